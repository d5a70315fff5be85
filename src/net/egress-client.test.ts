import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { FrontdoorError } from '#base';
import { parseAllowedNetworks } from '#domain';
import { makeTestAuthority, type TestIdentity } from '../../test/support/certificates.ts';
import { closerOf } from '../../test/support/server-sockets.ts';
import { EgressClient, type EgressClientOptions } from './egress-client.ts';

let identity: TestIdentity;
let server: Server;
let port = 0;
let hits = 0;
let sni: string | false | undefined;
let answer: RequestListener;
const closers: (() => void)[] = [];

before(async () => {
  identity = await makeTestAuthority().then((authority) => authority.issue('issuer'));
  server = createServer({ cert: identity.cert, key: identity.key }, (request, response) => {
    hits += 1;
    sni = (request.socket as unknown as { servername?: string | false }).servername;
    answer(request, response);
  });
  port = await listen(server);
});
after(() => {
  for (const close of closers) close();
});

async function listen(each: TcpServer): Promise<number> {
  closers.push(closerOf(each));
  each.listen(0, '127.0.0.1');
  await once(each, 'listening');
  return (each.address() as AddressInfo).port;
}

/** A client to which 127.0.0.1 is open on the server's port, and which resolves every name to what is given. */
function client(options: Partial<EgressClientOptions> & { readonly addresses?: readonly string[] } = {}) {
  const { addresses = ['127.0.0.1'], ...rest } = options;
  return new EgressClient({
    allowed: parseAllowedNetworks('--allow-egress', [`127.0.0.1:${port}`]),
    ca: identity.ca,
    lookup: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    ...rest,
  });
}

const failsAs = (kind: string, message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof FrontdoorError, String(error));
  assert.equal(error.kind, kind, error.message);
  assert.match(error.message, message);
  return true;
};

describe('a fetch from a host that another party names', () => {
  it('comes from an address that the policy opened, over TLS with the name checked', async () => {
    answer = (_request, response) => response.setHeader('cache-control', 'max-age=9').end('{"keys":[]}');
    const got = await client().get(`https://localhost:${port}/jwks?x=1`);
    assert.deepEqual([got.status, got.headers['cache-control'], got.json], [200, 'max-age=9', { keys: [] }]);
    assert.equal(sni, 'localhost');
    await client().get(`https://127.0.0.1:${port}/`);
    const asOther = client().get(`https://issuer.example:${port}/`);
    await assert.rejects(asOther, failsAs('unavailable', /issuer\.example.*altnames|does not match/));
    const untrusted = client({ ca: (await makeTestAuthority()).ca }).get(`https://localhost:${port}/`);
    await assert.rejects(untrusted, failsAs('unavailable', /cannot be fetched/));
  });

  it('is never asked for when any of its addresses is inside, nor over another scheme', async () => {
    const before = hits;
    for (const addresses of [
      ['10.0.0.1'],
      ['8.8.8.8', '127.0.0.2'],
      ['127.0.0.1', '::1'],
      ['::ffff:169.254.169.254'],
    ]) {
      const asked = client({ addresses }).get(`https://localhost:${port}/`);
      await assert.rejects(asked, failsAs('forbidden', /is not allowed/));
    }
    for (const url of [
      `https://127.0.0.1:${port + 1}/`,
      `https://[::ffff:7f00:2]:${port}/`,
      `https://2130706434:${port}/`,
      'http://8.8.8.8/',
      `https://user:pass@localhost:${port}/`,
      'ftp://localhost/',
      'file:///etc/passwd',
    ]) {
      await assert.rejects(client().get(url), failsAs('forbidden', /is not fetched/), url);
    }
    await assert.rejects(client().get('//x'), failsAs('invalid', /no address/));
    await assert.rejects(
      client({ addresses: [] }).get('https://x.example/'),
      failsAs('unavailable', /no addr/),
    );
    assert.equal(hits, before);
  });

  it('is resolved once: a name that points elsewhere afterwards leads nowhere', async () => {
    let lookups = 0;
    const rebinding = client({
      lookup: async () => [{ address: (lookups += 1) === 1 ? '127.0.0.1' : '10.0.0.1', family: 4 }],
    });
    answer = (_request, response) => response.end('{}');
    assert.equal((await rebinding.get(`https://localhost:${port}/`)).status, 200);
    assert.equal(lookups, 1);
    await assert.rejects(rebinding.get(`https://localhost:${port}/`), failsAs('forbidden', /10\.0\.0\.1/));
  });

  it('may be plain HTTP where the operator opened the address', async () => {
    const plain = createHttpServer((_request, response) => response.end('{"a":1}'));
    const plainPort = await listen(plain);
    const open = client({ allowed: parseAllowedNetworks('--allow-egress', [`127.0.0.0/8:${plainPort}`]) });
    assert.deepEqual((await open.get(`http://127.0.0.1:${plainPort}/`)).json, { a: 1 });
    await assert.rejects(client().get(`http://127.0.0.1:${plainPort}/`), failsAs('forbidden', /plain HTTP/));
  });

  it('may be asked with a form, once, and ended early', async () => {
    const forms: string[] = [];
    answer = (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method, headers } = request;
        forms.push(
          [method, headers['content-type'], headers['content-length'], String(Buffer.concat(chunks))].join(),
        );
        response.writeHead(400).end('{"error":"invalid_grant"}');
      });
    };
    const form = {
      method: 'POST',
      url: `https://localhost:${port}/token`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'code=ü',
    } as const;
    const got = await client().send(form);
    assert.deepEqual([got.status, got.text], [400, '{"error":"invalid_grant"}']);
    assert.deepEqual(forms, ['POST,application/x-www-form-urlencoded,7,code=ü']);
    answer = (request) => request.socket.destroy();
    const before = hits;
    await assert.rejects(client().send(form), failsAs('unavailable', /cannot be fetched/));
    assert.equal(hits, before + 1, 'a code is not sent twice');
    const ended = AbortSignal.abort();
    await assert.rejects(
      client().send({ ...form, signal: ended }),
      failsAs('unavailable', /cannot be fetched/),
    );
    const late = new AbortController();
    answer = () => late.abort(new DOMException('enough', 'TimeoutError'));
    await assert.rejects(client().send({ ...form, signal: late.signal }), failsAs('timeout', /in time/));
    assert.equal(hits, before + 2);
  });

  it('is not followed elsewhere by a redirect', async () => {
    let elsewhere = 0;
    const other = createHttpServer((_request, response) => response.end(String((elsewhere += 1))));
    const otherPort = await listen(other);
    answer = (_request, response) =>
      response.writeHead(302, { location: `http://127.0.0.1:${otherPort}/` }).end();
    assert.equal((await client().get(`https://localhost:${port}/`)).status, 302);
    assert.equal(elsewhere, 0);
  });

  it('has a deadline for the look-up, the connection and the whole answer, and a cap', async () => {
    const timeoutMs = 200;
    const never = client({ timeoutMs, lookup: () => new Promise(() => {}) });
    await assert.rejects(never.get(`https://localhost:${port}/`), failsAs('timeout', /in time/));
    const mute = await listen(createTcpServer((socket) => socket.on('error', () => {})));
    const muteClient = client({ timeoutMs, allowed: parseAllowedNetworks('--x', ['127.0.0.1:*']) });
    await assert.rejects(muteClient.get(`https://localhost:${mute}/`), failsAs('timeout', /in time/));
    answer = (_request, response) => void response.write('{');
    await assert.rejects(
      client({ timeoutMs }).get(`https://localhost:${port}/`),
      failsAs('timeout', /in time/),
    );
    answer = (_request, response) => response.end(`"${'x'.repeat(2_000)}"`);
    const capped = client({ maxAnswerBytes: 1_000 }).get(`https://localhost:${port}/`);
    await assert.rejects(capped, failsAs('unavailable', /above 1000 bytes/));
    answer = (_request, response) => response.end('no JSON');
    assert.equal((await client().get(`https://localhost:${port}/`)).json, undefined);
  });
});
