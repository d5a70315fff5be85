import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/fast-check.ts';
import { CONTENT_CODINGS } from '#domain/upstream';
import { chosenCoding, compressingOf, type Acceptance } from './compression-policy.ts';
import { readResponseHead, ResponseHead } from './response-head-policy.ts';

const ACCEPTED: Acceptance = {
  ...{ method: 'GET', isHttp10: false, accepted: 'gzip, br' },
  codings: ['br', 'gzip'],
};

function judged(lines: string, acceptance: Partial<Acceptance> = {}, status = '200 OK') {
  const head = new ResponseHead();
  const type = /content-type/i.test(lines) ? '' : 'Content-Type: text/html; charset=utf-8\r\n';
  assert.equal(readResponseHead(`HTTP/1.1 ${status}\r\n${type}${lines}\r\n`, 100, head), undefined);
  return compressingOf(head, { ...ACCEPTED, ...acceptance });
}

describe('the coding of a response', () => {
  it('is the one that the client weighs highest, and the first of the share among equal ones', () => {
    for (const [accepted, coding] of [
      ['gzip, deflate, br, zstd', 'zstd'],
      ['gzip;q=1.0, br;q=0.5', 'gzip'],
      ['BR ; Q=0.7,GZIP;q=0.7', 'br'],
      ['*', 'zstd'],
      ['*;q=0.5, zstd;q=0', 'br'],
      ['x-gzip', 'gzip'],
      ['gzip;q=0', undefined],
      ['gzip;q=0.000, br;q=00.5, zstd;q=2', undefined],
      ['identity, gzip;q=0.5', undefined],
      ['identity;q=0.5, gzip;q=0.5', 'gzip'],
      ['deflate', undefined],
      ['', undefined],
    ] as const)
      assert.equal(chosenCoding(accepted, CONTENT_CODINGS), coding, accepted);
  });

  it('is never one that the client excludes or the share lacks, whatever the header', () => {
    fc.assert(
      fc.property(fc.string(), fc.subarray([...CONTENT_CODINGS]), (accepted, codings) => {
        const chosen = chosenCoding(accepted, codings);
        assert.ok(chosen === undefined || codings.includes(chosen));
      }),
    );
  });
});

describe('compression of a response', () => {
  it('names the coding, varies by it, weakens the entity tag and offers no ranges', () => {
    assert.deepEqual(judged('ETag: "a"\r\nAccept-Ranges: bytes\r\n'), {
      coding: 'br',
      omitted: [1, 2],
      lines: 'ETag: W/"a"\r\nVary: Accept-Encoding\r\nContent-Encoding: br\r\n',
    });
    assert.equal(
      judged('ETag: W/"a"\r\nVary: Origin, accept-encoding\r\n')?.lines,
      'Content-Encoding: br\r\n',
    );
  });

  it('leaves the body to clients that accept none, with Vary', () => {
    for (const no of [{ accepted: '' }, { accepted: 'br;q=0' }, { isHttp10: true }])
      assert.deepEqual(judged('ETag: "a"\r\n', no), {
        coding: undefined,
        omitted: [],
        lines: 'Vary: Accept-Encoding\r\n',
      });
  });

  it('does not concern what is compressed, partial, small, bound to its bytes, an event stream or no text', () => {
    for (const lines of [
      'Content-Encoding: gzip\r\n',
      'Content-Encoding: identity\r\n',
      'Cache-Control: public, NO-TRANSFORM\r\n',
      'Content-Length: 1023\r\n',
      'Repr-Digest: sha-256=:x:\r\n',
      'Content-MD5: x\r\n',
      'Trailer: X-Checksum\r\n',
      'Content-Type: text/event-stream\r\n',
      'Content-Type: Text/Event-Stream; charset=utf-8\r\n',
      'Content-Type: image/png\r\n',
      'Content-Type: application/octet-stream\r\n',
      'Content-Type: application/grpc\r\n',
      'Content-Type:\r\n',
    ])
      assert.equal(judged(lines), undefined, lines);
    for (const status of ['204 No Content', '205 Reset Content', '206 Partial Content'])
      assert.equal(judged('', {}, status), undefined, status);
    assert.equal(judged('', { method: 'HEAD' }), undefined);
    for (const type of ['application/json', 'application/problem+json', 'image/svg+xml', 'TEXT/CSS'])
      assert.equal(judged(`Content-Type: ${type}\r\nContent-Length: 1024\r\n`)?.coding, 'br', type);
    assert.equal(judged('', {}, '404 Not Found')?.coding, 'br');
  });

  it('weakens the entity tag of 304, too, which belongs to the compressed response', () => {
    assert.deepEqual(judged('ETag: "a"\r\n', {}, '304 Not Modified'), {
      coding: undefined,
      omitted: [1],
      lines: 'ETag: W/"a"\r\n',
    });
    assert.equal(judged('ETag: "a"\r\n', { accepted: '' }, '304 Not Modified'), undefined);
  });
});
