import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../test/support/fast-check.ts';
import { BODY_CHUNKED, BODY_LENGTH, BODY_UNTIL_END, BodyDecoder } from './body-decoder.ts';
import { HeadBuffer } from './head-buffer.ts';
import { canonicalHost } from './host-policy.ts';
import { readRequestHead, RequestHead } from './request-head-policy.ts';

function bodyIn(
  pieces: readonly Buffer[],
  mode: number,
  length = 0,
): { data: string; done: boolean; malformed: boolean; left: number; trailers: string } {
  const decoder = new BodyDecoder(mode, length);
  decoder.keepsTrailers = true;
  let data = '';
  let left = 0;
  for (const piece of pieces) {
    const sink = {
      bodyRun: (bytes: Uint8Array, start: number, end: number) =>
        (data += Buffer.from(bytes.subarray(start, end)).toString('latin1')),
    };
    left += piece.length - decoder.decode(piece, 0, sink);
  }
  const { done, malformed, trailers } = decoder;
  return { data, done, malformed, left, trailers };
}

function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const points = [...new Set(at.map((point) => point % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...points]
    .map((start, i) => bytes.subarray(start, points[i] ?? bytes.length))
    .filter((piece) => piece.length > 0);
}

describe('body decoder', () => {
  it('finds the same data in any cuts of any chunks', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1, maxLength: 40 }), { maxLength: 8 }),
        fc.array(fc.nat(), { maxLength: 12 }),
        (chunks, at) => {
          const data = chunks.map((chunk) => Buffer.from(chunk));
          const framed = data
            .map((chunk) => `${chunk.length.toString(16)};x="y"\r\n${chunk.toString('latin1')}\r\n`)
            .join('');
          const whole = Buffer.from(`${framed}0\r\nA: b\r\nC:\t\xe9\r\n\r\nNEXT`, 'latin1');
          const read = bodyIn(cut(whole, at), BODY_CHUNKED);
          assert.deepEqual(read, {
            data: Buffer.concat(data).toString('latin1'),
            done: true,
            malformed: false,
            left: 4,
            trailers: 'A: b\r\nC:\t\xe9\r\n',
          });
        },
      ),
    );
  });

  it('stops exactly at a length, and only the end ends a body without one', () => {
    const byLength = bodyIn([Buffer.from('ab'), Buffer.from('cdNEXT')], BODY_LENGTH, 4);
    assert.deepEqual(byLength, { data: 'abcd', done: true, malformed: false, left: 4, trailers: '' });
    const decoder = new BodyDecoder(BODY_UNTIL_END);
    decoder.decode(Buffer.from('abc'), 0, { bodyRun: () => {} });
    assert.equal(decoder.done, false);
    assert.equal(decoder.end(), true);
    assert.equal(new BodyDecoder(BODY_LENGTH, 1).end(), false);
    assert.equal(new BodyDecoder(BODY_CHUNKED).end(), false);
  });

  it('bounds extensions and trailers', () => {
    assert.ok(bodyIn([Buffer.from(`1;${'a'.repeat(300)}`)], BODY_CHUNKED).malformed);
    assert.ok(
      bodyIn([Buffer.from(`0\r\n${`A: ${'b'.repeat(100)}\r\n`.repeat(200)}`)], BODY_CHUNKED).malformed,
    );
  });
});

describe('head buffer', () => {
  const head = 'GET /x HTTP/1.1\r\nHost: a.b\r\nX: y\r\n\r\n';

  it('finds the head in any cuts, and hands back exactly what follows', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 10 }), fc.string({ maxLength: 20 }), (at, after) => {
        const buffer = new HeadBuffer(1_000, 500);
        const pieces = cut(Buffer.from(head + after, 'latin1'), at);
        let rest: Buffer = Buffer.alloc(0);
        let found = false;
        for (const piece of pieces) {
          if (found) rest = Buffer.concat([rest, piece]);
          else if (buffer.push(piece)) {
            found = true;
            assert.equal(buffer.text, head);
            rest = buffer.rest ?? rest;
          }
        }
        assert.ok(found);
        assert.equal(rest.toString('latin1'), Buffer.from(after, 'latin1').toString('latin1'));
      }),
    );
  });

  it('refuses at its bounds, not before', () => {
    for (const [size, refusal] of [
      [15, 'target-too-long'],
      [16, undefined],
    ] as const) {
      const buffer = new HeadBuffer(1_000, size === 15 ? 14 : 15);
      assert.equal(buffer.push(Buffer.from(head)), true);
      assert.equal(buffer.refusal, refusal);
    }
    const exact = new HeadBuffer(head.length, 100);
    assert.ok(exact.push(Buffer.from(`${head}more`)));
    assert.equal(exact.text, head);
    const small = new HeadBuffer(head.length - 1, 100);
    assert.ok(small.push(Buffer.from(head)));
    assert.equal(small.refusal, 'head-too-large');
  });

  it('accepts no bytes as a request unless they are one', () => {
    const request = new RequestHead();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(head.length), (noise, at) => {
        const bytes = Buffer.concat([Buffer.from(head.slice(0, at)), noise, Buffer.from(head.slice(at))]);
        const buffer = new HeadBuffer(16_384, 8_192);
        if (!buffer.push(bytes) || buffer.refusal !== undefined) return;
        if (readRequestHead(buffer.text, 100, request) !== undefined) return;
        // oxlint-disable-next-line no-control-regex
        assert.doesNotMatch(buffer.text.replaceAll('\r\n', ''), /[\0-\x08\x0a-\x1f\x7f]/);
        assert.match(request.host, /^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])$/);
        assert.match(request.target, /^(?:\/(?!\/)|\*$)/);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('policies', () => {
  it('has one form of a host', () => {
    const rows: readonly (readonly [string, string | undefined])[] = [
      ['A.b', 'a.b'],
      ['a.b:80', 'a.b'],
      ['a', 'a'],
      ['xn--a.b', 'xn--a.b'],
      ['[::1]', '[::1]'],
      ['[::1]:8', '[::1]'],
      ['127.0.0.1', '127.0.0.1'],
      ['', undefined],
      ['.', undefined],
      ['a.', 'a'],
      ['A.b.:80', 'a.b'],
      ['a..', undefined],
      ['.:80', undefined],
      ['.a', undefined],
      ['a..b', undefined],
      ['a:0', undefined],
      ['a:', undefined],
      ['a:1:2', undefined],
      [`${'a'.repeat(64)}.b`, undefined],
      [`${'a.'.repeat(127)}a`, undefined],
      ['[::1', undefined],
      ['[x]', undefined],
      ['[::1]x', undefined],
      ['ä', undefined],
      ['a%2eb', undefined],
    ];
    for (const [value, expected] of rows) assert.equal(canonicalHost(value), expected, value);
  });
});
