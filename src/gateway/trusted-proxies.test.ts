// Requests through trusted proxies, which name the client in headers: what the gateway, its rules, records and services see.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { parseTrustedProxies } from '#domain/proxies';
import {
  AccessWorld,
  BROWSER_LINE,
  keyProviderOf,
  keyRecord,
  parseAnswer,
  providerOf,
  rulesOf,
} from './testing/access-world.ts';
import type { ParsedAnswer } from './testing/access-world.ts';
import { statusOf } from './testing/gateway-world.ts';
import { systemTime } from './gateway-time.ts';
import { RawClient } from './testing/raw-client.ts';

const PROXY = '127.0.0.1';
const STRANGER = '127.0.0.2';
const CLIENT = '203.0.113.7';
const HOST = 'app.share.localhost';
const MAX_AT_ONCE = 3;

describe('a gateway behind a trusted proxy', () => {
  let world: AccessWorld;
  before(async () => {
    world = await AccessWorld.start({ publicHttpsPort: () => 443 }, {}, systemTime, {
      proxies: parseTrustedProxies(`${PROXY},10.0.0.0/8`),
      limits: { standbyPerShare: 0, maxConnectionsPerAddress: MAX_AT_ONCE },
    });
    world.setProviders(providerOf('idp'), keyProviderOf('keys', { keys: [keyRecord('k', 'a-key')] }));
    await world.serve('app');
    await world.serve('other');
  });
  after(() => world.close());
  beforeEach(() => world.publish('app', {}));

  /** Sends a request on a connection of its own, from the proxy by default. */
  async function ask(lines: readonly string[], from = PROXY, host = HOST, path = '/'): Promise<ParsedAnswer> {
    const client = world.world.own(await RawClient.connect(world.world.port, from));
    client.send(
      `GET ${path} HTTP/1.1\r\n${[`Host: ${host}`, 'Connection: close', ...lines].join('\r\n')}\r\n\r\n`,
    );
    const answer = parseAnswer(await client.ended());
    client.close();
    return answer;
  }
  const recordOf = (errorId: string) => world.records.find((record) => record['errorId'] === errorId)!;
  const seenHeaders = () => world.last('app').headers;

  it('forwards address, scheme and host of the client, each in one header', async () => {
    await ask([
      `X-Forwarded-For: 192.0.2.1, ${CLIENT}`,
      'X-Forwarded-For: 10.0.0.9',
      'X-Forwarded-Proto: https',
      'X-Real-IP: 192.0.2.1',
    ]);
    const { rawHeaders } = world.last('app');
    const values = (name: string) =>
      rawHeaders.filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === name);
    assert.deepEqual(values('x-forwarded-for'), [CLIENT]);
    assert.deepEqual(values('x-forwarded-proto'), ['https']);
    assert.deepEqual(values('x-forwarded-host'), [HOST]);
    assert.deepEqual(values('x-real-ip'), []);
  });

  it('finds the client of each request of a connection, because a proxy sends those of many clients', async () => {
    const proxy = world.world.own(await RawClient.connect(world.world.port, PROXY));
    for (const [address, proto] of [
      [CLIENT, 'https'],
      ['203.0.113.8', 'http'],
      ['203.0.113.8', 'http'],
      [CLIENT, 'http'],
    ] as const) {
      const before = proxy.received.length;
      const hits = world.hits('app');
      proxy.send(
        `GET / HTTP/1.1\r\nHost: ${HOST}\r\nX-Forwarded-For: ${address}\r\nX-Forwarded-Proto: ${proto}\r\n\r\n`,
      );
      await proxy.until((text) => text.slice(before).includes('origin of app'));
      assert.equal(world.hits('app'), hits + 1);
      assert.deepEqual(
        [seenHeaders()['x-forwarded-for'], seenHeaders()['x-forwarded-proto']],
        [address, proto],
      );
    }
    proxy.close();
  });

  it('judges address rules and rates by the client', async () => {
    world.publish('app', {
      rules: rulesOf({
        ip: { allow: ['203.0.113.0/24'], deny: [] },
        rateLimit: { requests: 2, perMs: 3_600_000 },
      }),
      updatedAtMs: 2,
    });
    const from = (address: string) => ask([`X-Forwarded-For: ${address}`]);
    assert.equal((await from('198.51.100.1')).status, 403);
    assert.equal((await ask([])).status, 403, 'the proxy itself');
    assert.equal((await from(CLIENT)).status, 200);
    assert.equal((await from(CLIENT)).status, 200);
    assert.equal((await from(CLIENT)).status, 429);
    assert.equal((await from('203.0.113.8')).status, 200);
  });

  it('believes no other address', async () => {
    const lines = [
      `X-Forwarded-For: ${CLIENT}`,
      'X-Forwarded-Proto: https',
      `X-Forwarded-Host: other.share.localhost`,
      `Forwarded: for=${CLIENT}`,
    ];
    assert.equal((await ask(lines, STRANGER)).status, 200);
    assert.deepEqual(
      [
        seenHeaders()['x-forwarded-for'],
        seenHeaders()['x-forwarded-proto'],
        seenHeaders()['x-forwarded-host'],
        seenHeaders()['forwarded'],
      ],
      [STRANGER, 'http', HOST, undefined],
    );
    assert.equal((await ask(lines, STRANGER, 'unknown.share.localhost')).status, 404);
    world.publish('app', { rules: rulesOf({ ip: { allow: [CLIENT], deny: [] } }), updatedAtMs: 3 });
    assert.equal((await ask(lines, STRANGER)).status, 403);
  });

  it('refuses a client that it cannot read, with the code and the remedy', async () => {
    const cases: readonly (readonly [code: string, ...lines: string[]])[] = [
      ['malformed-forwarding', 'X-Forwarded-For: unknown'],
      ['malformed-forwarding', `X-Forwarded-For: ${CLIENT}`, 'X-Forwarded-Proto: gopher'],
      ['conflicting-forwarding', `X-Forwarded-For: ${CLIENT}`, 'Forwarded: for=192.0.2.1'],
    ];
    for (const [code, ...lines] of cases) {
      const hits = world.hits('app');
      const { status, body } = await ask(['Accept: application/json', ...lines]);
      assert.equal(status, 400, code);
      const { error, errorId } = JSON.parse(body) as { error: string; errorId: string };
      assert.equal(error, code);
      assert.equal(recordOf(errorId)['client'], PROXY);
      assert.equal(world.hits('app'), hits);
    }
    await ask([`X_Forwarded_For: unknown`, `X-Forwarded-For: ${CLIENT}`]);
    assert.equal(seenHeaders()['x-forwarded-for'], CLIENT, 'another spelling is not that of a proxy');
  });

  it('reads Forwarded of a proxy that sends no X-Forwarded-For', async () => {
    await ask([`Forwarded: for=192.0.2.1, for="${CLIENT}:4711";proto=https;host=${HOST}`]);
    assert.deepEqual(
      [seenHeaders()['x-forwarded-for'], seenHeaders()['x-forwarded-proto']],
      [CLIENT, 'https'],
    );
  });

  it('takes the host from the proxy where this replaced Host, and from nowhere else', async () => {
    const report = [`X-Forwarded-For: ${CLIENT}`, `X-Forwarded-Host: ${HOST}`];
    const { status, body } = await ask(report, PROXY, '10.0.0.1:8080');
    assert.deepEqual([status, body], [200, 'origin of app']);
    assert.deepEqual([seenHeaders().host, seenHeaders()['x-forwarded-host']], [HOST, HOST]);
    const spoofed = [`X-Forwarded-For: ${CLIENT}`, 'X-Forwarded-Host: other.share.localhost'];
    assert.equal((await ask(spoofed)).body, 'origin of app');
    assert.equal((await ask(spoofed, PROXY, 'oauth.share.localhost')).status, 404);
  });

  it('begins a sign-in where the client uses HTTPS at the proxy, and redirects to HTTPS where it does not', async () => {
    world.publish('app', { authProviderIds: ['idp'] });
    const page = await ask([BROWSER_LINE, `X-Forwarded-For: ${CLIENT}`, 'X-Forwarded-Proto: https']);
    assert.equal(page.status, 302);
    assert.doesNotMatch(page.headers.get('location') ?? '', /^https:\/\/app\./);
    assert.match(page.setCookies[0] ?? '', /^__Host-frontdoor-login=.*; Secure/);
    const plain = await ask(
      [BROWSER_LINE, `X-Forwarded-For: ${CLIENT}`, 'X-Forwarded-Proto: http'],
      PROXY,
      HOST,
      '/a?b',
    );
    assert.deepEqual([plain.status, plain.headers.get('location')], [302, `https://${HOST}/a?b`]);
  });

  it('redirects nobody in circles: the page names the problem, the log the proxy', async () => {
    world.publish('app', { authProviderIds: ['idp'] });
    const line = 'Accept: text/html, application/json';
    for (const [from, reported] of [
      [PROXY, `X-Forwarded-For: ${CLIENT}`],
      [STRANGER, 'X-Forwarded-Proto: https'],
    ] as const) {
      const { status, headers } = await ask([line, reported], from);
      assert.equal(status, 502);
      const record = recordOf(headers.get('frontdoor-error-id') ?? '');
      assert.equal(record['code'], 'proxy-scheme-unknown');
      if (from === STRANGER)
        assert.match(String(record['cause']), /^127\.0\.0\.2 sends X-Forwarded-Proto: https/);
    }
  });

  it('compares the origin of a page with the address that browsers see', async () => {
    world.publish('app', { authProviderIds: ['idp'] });
    const session = world.sessionLine('app', 'idp');
    const post = async (origin: string): Promise<number> => {
      const client = world.world.own(await RawClient.connect(world.world.port, PROXY));
      client.send(
        `POST / HTTP/1.1\r\nHost: ${HOST}\r\nConnection: close\r\nX-Forwarded-For: ${CLIENT}\r\nX-Forwarded-Proto: https\r\nOrigin: ${origin}\r\n${session}\r\n\r\n`,
      );
      const status = statusOf(await client.ended());
      client.close();
      return status;
    };
    assert.equal(await post(`https://${HOST}`), 200);
    assert.equal(await post(`http://${HOST}`), 403);
  });

  it('counts the requests in progress of each client, and not the connections of the proxy', async () => {
    const held = Array.from({ length: MAX_AT_ONCE }, async () => {
      const client = world.world.own(await RawClient.connect(world.world.port, PROXY));
      client.send(
        `POST / HTTP/1.1\r\nHost: ${HOST}\r\nX-Forwarded-For: ${CLIENT}\r\nContent-Length: 5\r\n\r\n`,
      );
      return client;
    });
    const clients = await Promise.all(held);
    await world.world.eventually(
      () => world.world.gateway.stats().requests >= MAX_AT_ONCE,
      'requests in progress',
    );
    let last: ParsedAnswer | undefined;
    while (last?.status !== 429) last = await ask([`X-Forwarded-For: ${CLIENT}`]);
    assert.equal((await ask(['X-Forwarded-For: 203.0.113.8'])).status, 200);
    for (const client of clients) client.close();
    await world.world.eventually(() => world.world.gateway.stats().connections === 0, 'no connection');
    assert.equal((await ask([`X-Forwarded-For: ${CLIENT}`])).status, 200);
  });

  it('serves all hosts over one TLS connection of the proxy, and asks no certificate of it', async () => {
    world.publish('app', {
      rules: rulesOf({ clientCertificate: { authorities: ['PEM'], names: [] } }),
      updatedAtMs: 4,
    });
    for (const [name, status] of [
      ['other', 200],
      ['app', 403],
    ] as const) {
      const client = await world.client('other.share.localhost');
      client.send(
        `GET / HTTP/1.1\r\nHost: ${name}.share.localhost\r\nConnection: close\r\nX-Forwarded-For: ${CLIENT}\r\n\r\n`,
      );
      assert.equal(statusOf(await client.ended()), status, name);
    }
  });
});
