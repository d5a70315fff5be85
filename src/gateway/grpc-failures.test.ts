// What clients of gRPC and gRPC-Web get when the gateway does not serve them.
import assert from 'node:assert/strict';
import type { ClientHttp2Session } from 'node:http2';
import { after, before, describe, it } from 'node:test';
import { AccessWorld, keyProviderOf, keyRecord, rulesOf } from './testing/access-world.ts';
import { bodyOf } from './testing/gateway-world.ts';
import { ask, openH2c } from './testing/http2-client.ts';

const GRPC = { ':method': 'POST', 'content-type': 'application/grpc+proto', te: 'trailers' };

describe('clients of gRPC', () => {
  let access: AccessWorld;
  let session: ClientHttp2Session;
  before(async () => {
    access = await AccessWorld.start({ isCertified: () => true }, {}, undefined, {
      plain: { host: '127.0.0.1', port: 0, speaksH2c: true },
    });
    const key = keyRecord('reports', 'k'.repeat(40));
    access.setProviders(keyProviderOf('keys', { keys: [key] }));
    await access.serve('open', { rules: rulesOf({ httpsRedirect: 'never' }) });
    await access.serve('guarded', { rules: rulesOf({ httpsRedirect: 'never' }), authProviderIds: ['keys'] });
    await access.serve('denied', {
      rules: rulesOf({ httpsRedirect: 'never', ip: { allow: [], deny: ['127.0.0.0/8'] } }),
    });
    await access.serve('limited', {
      rules: rulesOf({ httpsRedirect: 'never', rateLimit: { requests: 1, perMs: 60_000 } }),
    });
    await access.serve('secure', { rules: rulesOf({ httpsRedirect: 'always' }) });
    session = openH2c(access.world.port);
  });
  after(async () => {
    session.destroy();
    await access.close();
  });

  async function statusOf(name: string, headers = {}): Promise<string> {
    const { headers: head, body, trailers } = await ask(session, name, { ...GRPC, ...headers }, '');
    assert.deepEqual([head[':status'], body, Object.keys(trailers).length], [200, '', 0]);
    assert.match(String(head['content-type']), /^application\/grpc$/);
    assert.match(String(head['grpc-message']), new RegExp(`error ID ${String(head['frontdoor-error-id'])}`));
    return String(head['grpc-status']);
  }

  it('get a status that says what failed, without a page and without a redirect', async () => {
    assert.equal(await statusOf('guarded'), '16');
    assert.equal(await statusOf('guarded', { accept: 'text/html', 'x-api-key': 'wrong' }), '16');
    assert.equal(await statusOf('denied'), '7');
    assert.equal(await statusOf('nobody'), '12');
    assert.equal(await statusOf('limited'), '12');
    assert.equal(await statusOf('limited'), '8');
    assert.equal(await statusOf('secure'), '7');
  });

  it('learn which targets carry gRPC from one that does not', async () => {
    const { headers } = await ask(session, 'open', GRPC, '');
    assert.equal(headers['grpc-status'], '12');
    assert.match(String(headers['grpc-message']), /grpc:\/\/ or grpcs:\/\/.*grpc-target/);
    assert.equal(access.hits('open'), 0);
  });

  it('of the web pass over HTTP/1.1, and get failures in their own form', async () => {
    const lines = ['Content-Type: application/grpc-web+proto', 'Content-Length: 0'];
    assert.equal((await access.ask('open', { method: 'POST', lines, isPlain: true })).status, 200);
    assert.equal(access.hits('open'), 1);
    const { status, headers, body } = await access.ask('denied', { method: 'POST', lines, isPlain: true });
    assert.deepEqual(
      [status, headers.get('content-type'), body.charCodeAt(0)],
      [200, 'application/grpc-web+proto', 0x80],
    );
    assert.equal(body.charCodeAt(4), body.length - 5);
    assert.match(body.slice(5), /^grpc-status:7\r\ngrpc-message:.*\r\n$/);
    const text = ['Content-Type: application/grpc-web-text', 'Content-Length: 0'];
    const coded = await access.ask('denied', { method: 'POST', lines: text, isPlain: true });
    assert.match(Buffer.from(coded.body, 'base64').toString('latin1'), /grpc-status:7/);
  });

  it('get a status for a head that is refused', async () => {
    const text = await access.world.ask(
      'POST //a HTTP/1.1\r\nHost: open.share.localhost\r\nContent-Type: application/grpc\r\nContent-Length: 0\r\n\r\n',
    );
    assert.match(text, /^HTTP\/1\.1 200 OK\r\n[^]*grpc-status: 13\r\n/);
    assert.equal(bodyOf(text), '');
  });
});
