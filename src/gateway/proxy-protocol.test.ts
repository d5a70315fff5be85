// Connections with a PROXY header (haproxy's protocol), before HTTP and before TLS.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { parseTrustedProxies } from '#domain/proxies';
import { AccessWorld, rulesOf } from './testing/access-world.ts';
import { once, statusOf } from './testing/gateway-world.ts';
import { systemTime } from './gateway-time.ts';
import { RawClient } from './testing/raw-client.ts';

const PROXY = '127.0.0.1';
const STRANGER = '127.0.0.2';
const LINE = 'PROXY TCP4 203.0.113.7 192.0.2.1 51000 443\r\n';
const SIGNATURE = '\r\n\r\n\0\r\nQUIT\n';
const REQUEST = 'GET / HTTP/1.1\r\nHost: app.share.localhost\r\nConnection: close\r\n';

describe('a port with PROXY headers', () => {
  let world: AccessWorld;
  before(async () => {
    world = await AccessWorld.start({}, {}, systemTime, {
      proxies: parseTrustedProxies(`${PROXY},10.0.0.0/8`),
      plain: { host: '127.0.0.1', port: 0, hasProxyHeaders: true },
      limits: { standbyPerShare: 0, maxConnectionsPerAddress: 3, proxyHeaderTimeoutMs: 1_500 },
    });
    await world.serve('app');
  });
  after(() => world.close());
  beforeEach(() => world.publish('app', {}));

  const open = async (from = PROXY): Promise<RawClient> =>
    world.world.own(await RawClient.connect(world.world.port, from));
  const forwardedFor = () => world.last('app').headers['x-forwarded-for'];

  /** Returns the status of the answer, and -1 without one. */
  async function ask(text: string, from = PROXY): Promise<number> {
    const client = await open(from);
    client.send(text);
    const status = statusOf(await client.ended().catch(() => ''));
    client.close();
    return status;
  }

  it('takes the client from a header of either version', async () => {
    assert.equal(await ask(`${LINE}${REQUEST}\r\n`), 200);
    assert.equal(forwardedFor(), '203.0.113.7');
    const v6 = `${SIGNATURE}\x21\x21\x00\x24\x20\x01\x0d\xb8${'\0'.repeat(11)}\x07${'\0'.repeat(16)}\xc3\x50\x01\xbb`;
    assert.equal(await ask(`${v6}${REQUEST}\r\n`), 200);
    assert.equal(forwardedFor(), '2001:db8::7');
  });

  it('takes it byte by byte', async () => {
    const client = await open();
    for (const character of `${LINE}${REQUEST}\r\n`) {
      client.send(character);
      await new Promise(setImmediate);
    }
    assert.equal(statusOf(await client.ended()), 200);
    assert.equal(forwardedFor(), '203.0.113.7');
  });

  it('judges rules by that client', async () => {
    world.publish('app', { rules: rulesOf({ ip: { allow: [], deny: ['203.0.113.7'] } }), updatedAtMs: 2 });
    assert.equal(await ask(`${LINE}${REQUEST}\r\n`), 403);
    assert.equal(await ask(`${LINE.replace('.7 ', '.8 ')}${REQUEST}\r\n`), 200);
  });

  it('believes headers of the client where this is a trusted proxy, too, and never else', async () => {
    const lines = 'X-Forwarded-For: 198.51.100.1\r\nX-Forwarded-Proto: https\r\n\r\n';
    await ask(`PROXY TCP4 10.0.0.9 192.0.2.1 51000 443\r\n${REQUEST}${lines}`);
    assert.equal(forwardedFor(), '198.51.100.1');
    await ask(`${LINE}${REQUEST}${lines}`);
    assert.equal(forwardedFor(), '203.0.113.7');
    for (const own of ['PROXY UNKNOWN\r\n', `${SIGNATURE}\x20\x00\x00\x00`]) {
      assert.equal(await ask(`${own}${REQUEST}${lines}`), 200);
      assert.equal(forwardedFor(), PROXY, 'a connection of the proxy itself');
    }
  });

  it('serves other addresses without a header, and refuses theirs', async () => {
    assert.equal(await ask(`${REQUEST}\r\n`, STRANGER), 200);
    assert.equal(forwardedFor(), STRANGER);
    const hits = world.hits('app');
    assert.equal(await ask(`${LINE}${REQUEST}\r\n`, STRANGER), 400);
    assert.equal(await ask(`${SIGNATURE}\x20\x00\x00\x00${REQUEST}\r\n`, STRANGER), 400);
    assert.equal(world.hits('app'), hits);
  });

  it('resets connections of the proxy without a header, and with a malformed, oversized or foreign one', async () => {
    const hits = world.hits('app');
    for (const start of [
      '',
      'PROXY TCP4 203.0.113.7\r\n',
      `${SIGNATURE}\x21\x11\xff\xff`,
      `${SIGNATURE}\x21\x12\x00\x0c${'\x01'.repeat(12)}`,
      `${SIGNATURE}\x21\x31\x00\xd8${'\0'.repeat(216)}`,
    ])
      assert.equal(await ask(`${start}${REQUEST}\r\n`), -1, JSON.stringify(start));
    assert.equal(world.hits('app'), hits);
    const records = world.records.filter(({ message }) => message.includes('--proxy-protocol'));
    assert.equal(records.length, 1, 'one line of the log for many connections');
    assert.match(String(records[0]?.['cause']), /does not begin with a PROXY header/);
  });

  it('waits for a header for a bounded time, and not for one of a closed connection', async () => {
    const silent = await open();
    silent.send('PROXY TCP4 ');
    const ended = await open();
    ended.send('PROXY TCP4 ');
    ended.socket.end();
    for (const client of [ended, silent]) assert.equal(await client.ended().catch(() => ''), '');
    await world.world.eventually(() => world.world.gateway.stats().connections === 0, 'no connection');
  });

  it('counts connections by the client, and not those of the proxy', async () => {
    await world.world.eventually(() => world.world.gateway.stats().connections === 0, 'no connection');
    const clients = [await open(), await open(), await open(), await open()];
    for (const client of clients) client.send(`${LINE}GET`);
    // One of them is reset; another client's is served.
    await world.world.eventually(() => clients.some(({ isOpen }) => !isOpen), 'a refused connection');
    assert.equal(clients.filter(({ isOpen }) => isOpen).length, 3);
    assert.equal(await ask(`${LINE.replace('.7 ', '.9 ')}${REQUEST}\r\n`), 200);
    for (const client of clients) client.close();
    await world.world.eventually(() => world.world.gateway.stats().connections === 0, 'no connection');
    assert.equal(await ask(`${LINE}${REQUEST}\r\n`), 200);
  });
});

describe('a TLS port with PROXY headers', () => {
  for (const name of ['without', 'with'] as const)
    it(`takes the client before the handshake, ${name} certificates of clients`, async (test) => {
      const world = await AccessWorld.start(
        {},
        name === 'with' ? { clientAuthorities: () => undefined, hasClientAuthorities: () => true } : {},
        systemTime,
        { proxies: parseTrustedProxies(PROXY) },
        true,
      );
      test.after(() => world.close());
      await world.serve('app');
      for (const isTogether of [false, true]) {
        const raw = await RawClient.connect(world.securePort, PROXY);
        raw.socket.removeAllListeners('data');
        raw.socket.pause();
        raw.socket.write(LINE);
        if (!isTogether) await new Promise(setImmediate);
        const secure: TLSSocket = connect({
          socket: raw.socket,
          servername: 'app.share.localhost',
          rejectUnauthorized: false,
        });
        await once(secure, 'secureConnect');
        const client = world.world.own(new RawClient(secure));
        client.send(`${REQUEST}\r\n`);
        assert.equal(statusOf(await client.ended()), 200);
        const { headers } = world.last('app');
        assert.deepEqual(
          [headers['x-forwarded-for'], headers['x-forwarded-proto']],
          ['203.0.113.7', 'https'],
        );
      }
    });
});
