// HTTP/2 without TLS at the HTTP port: by prior knowledge where the operator accepts it, and never by an upgrade.
import assert from 'node:assert/strict';
import { connect as connectHttp2, type ClientHttp2Session } from 'node:http2';
import { connect } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { parseTrustedProxies } from '#domain/proxies';
import { systemTime } from './gateway-time.ts';
import { AccessWorld, keyProviderOf, keyRecord, rulesOf } from './testing/access-world.ts';
import { GatewayWorld, get, once, statusOf } from './testing/gateway-world.ts';
import { ask, openH2c, type Http2Answer } from './testing/http2-client.ts';

const UPGRADE = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n';
const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

describe('a port that accepts HTTP/2 without TLS', () => {
  let world: AccessWorld;
  const sessions: ClientHttp2Session[] = [];
  before(async () => {
    world = await AccessWorld.start({}, {}, systemTime, {
      plain: { host: '127.0.0.1', port: 0, speaksH2c: true, hasProxyHeaders: true },
      proxies: parseTrustedProxies('127.0.0.9,10.0.0.0/8'),
      limits: { standbyPerShare: 0, headTimeoutMs: 500 },
    });
    world.setProviders(keyProviderOf('keys', { keys: [keyRecord('reports', 'a-key')] }));
    await world.serve('app');
    await world.serve('guarded', { authProviderIds: ['keys'] });
    await world.serve('limited', { rules: rulesOf({ rateLimit: { requests: 1, perMs: 60_000 } }) });
  });
  after(() => world.close());
  afterEach(() => {
    for (const session of sessions.splice(0)) session.destroy();
  });

  /** A session from an address of loopback, after some bytes. */
  function session(localAddress = '127.0.0.1', first = ''): ClientHttp2Session {
    const { port } = world.world;
    const opened = connectHttp2(`http://127.0.0.1:${port}`, {
      createConnection: () => {
        const socket = connect({ host: '127.0.0.1', port, localAddress });
        if (first !== '') socket.write(first, 'latin1');
        return socket;
      },
    });
    opened.on('error', () => {});
    sessions.push(opened);
    return opened;
  }
  const statusFor = async (name: string, headers = {}, opened = session()): Promise<unknown> =>
    (await ask(opened, name, headers)).headers[':status'];

  it('serves both versions by the same rules', async () => {
    assert.equal(await statusFor('app'), 200);
    assert.equal(statusOf(await world.world.ask(get('app'))), 200);
    assert.deepEqual(
      [await statusFor('guarded'), await statusFor('guarded', { 'x-api-key': 'a-key' })],
      [401, 200],
    );
    assert.deepEqual([await statusFor('limited'), await statusFor('limited')], [200, 429]);
    assert.equal(await statusFor('nobody'), 404);
    assert.equal(world.last('app').headers['x-forwarded-proto'], 'http');
  });

  it('takes requests for several shares over one connection, as proxies send them', async () => {
    const opened = session();
    const answers = await Promise.all(['app', 'guarded', 'app'].map((name) => statusFor(name, {}, opened)));
    assert.deepEqual(answers, [200, 401, 200]);
  });

  it('takes the client from what a trusted proxy says, in a PROXY header and in each request', async () => {
    const line = 'PROXY TCP4 203.0.113.7 192.0.2.1 51000 443\r\n';
    assert.equal(await statusFor('app', {}, session('127.0.0.9', line)), 200);
    assert.equal(world.last('app').headers['x-forwarded-for'], '203.0.113.7');
    // A proxy of HTTP behind one of TCP.
    const proxy = session('127.0.0.9', line.replace('203.0.113.7', '10.0.0.5'));
    for (const address of ['203.0.113.8', '203.0.113.9']) {
      const headers = { 'x-forwarded-for': address, 'x-forwarded-proto': 'https' };
      assert.equal(await statusFor('app', headers, proxy), 200);
      const seen = world.last('app').headers;
      assert.deepEqual([seen['x-forwarded-for'], seen['x-forwarded-proto']], [address, 'https']);
    }
    const stranger = session();
    await statusFor('app', { 'x-forwarded-for': '203.0.113.8' }, stranger);
    assert.equal(world.last('app').headers['x-forwarded-for'], '127.0.0.1');
  });

  it('takes the first bytes in any pieces, and cuts off a client that stops among them', async () => {
    const slow = await world.world.client();
    for (const character of PREFACE) {
      slow.send(character);
      await new Promise(setImmediate);
    }
    await slow.until((text) => text.length >= 9);
    assert.equal(slow.received.charCodeAt(3), 4, 'a frame of settings');
    slow.close();
    const other = await world.world.client();
    for (const character of get('app')) {
      other.send(character);
      await new Promise(setImmediate);
    }
    assert.equal(statusOf(await other.ended()), 200);
    const stopped = await world.world.client();
    stopped.send(PREFACE.slice(0, 10));
    assert.equal(await stopped.ended(), '');
  });

  it('switches to HTTP/2 in no request, and passes no such wish on', async () => {
    const answer = await world.world.ask(get('app', '/', UPGRADE.replace('Upgrade,', 'Upgrade, close,')));
    assert.equal(statusOf(answer), 200);
    const { headers } = world.last('app');
    assert.deepEqual([headers['upgrade'], headers['http2-settings']], [undefined, undefined]);
  });
});

describe('a port that does not', () => {
  it('refuses HTTP/2 by the form of its first line', async (test) => {
    const world = await GatewayWorld.start();
    test.after(() => world.close());
    assert.match(await world.ask(PREFACE), /^HTTP\/1\.1 (?:400|505) /);
    const session = openH2c(world.port);
    const answer: Promise<Http2Answer> = ask(session, 'app');
    await once(session, 'close');
    assert.equal((await answer).headers[':status'], undefined);
  });
});
