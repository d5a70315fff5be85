// What one HTTP/2 connection can be made to hold, and how it ends.
import assert from 'node:assert/strict';
import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { before, describe, it, type TestContext } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { makeTestAuthority } from '../../test/support/certificates.ts';
import { within } from '../../test/support/deadline.ts';
import type { GatewayOptions } from './gateway.ts';
import { GatewayWorld, once } from './testing/gateway-world.ts';
import { ManualTime } from './testing/manual-time.ts';
import type { TlsSettings } from './tls-front.ts';

describe('limits of HTTP/2 connections', () => {
  let tls: TlsSettings;
  before(async () => {
    const { cert, key } = await (await makeTestAuthority()).issue('app', { dns: ['app.share.localhost'] });
    tls = { defaultCertificate: { cert, key }, certificateFor: () => undefined };
  });

  async function open(test: TestContext, options: Partial<GatewayOptions> = {}) {
    const world = await GatewayWorld.start({ secure: { host: '127.0.0.1', port: 0, tls }, ...options });
    test.after(() => world.close());
    const session = connect(`https://app.share.localhost:${world.gateway.securePort}`, {
      rejectUnauthorized: false,
      lookup: (_, __, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    });
    session.on('error', () => {});
    test.after(() => session.destroy());
    await within('the settings', once(session, 'remoteSettings'));
    return { world, session };
  }

  /** Connects a client that sends nothing, and never closes. */
  async function silentClient(test: TestContext, world: GatewayWorld): Promise<void> {
    const socket = connectTls({
      host: '127.0.0.1',
      port: world.gateway.securePort!,
      servername: 'app.share.localhost',
      rejectUnauthorized: false,
      ALPNProtocols: ['h2'],
    });
    test.after(() => socket.destroy());
    socket.on('error', () => {});
    await within('the settings', once(socket, 'data'));
    socket.pause();
  }

  const codeOf = async (stream: ClientHttp2Stream): Promise<number | undefined> => {
    stream.on('error', () => {});
    stream.resume();
    await within('the end of a stream', once(stream, 'close'));
    return stream.rstCode;
  };
  const statusOf = async (session: ClientHttp2Session, headers = {}): Promise<unknown> => {
    const stream = session.request(headers, { endStream: true });
    const head = (await within('a response', once(stream, 'response'))) as Record<string, unknown>;
    await codeOf(stream);
    return head[':status'];
  };

  it('counts each stream as a connection of its client, and refuses those beyond its limit', async (test) => {
    const { world, session } = await open(test, { limits: { maxConnectionsPerAddress: 3 } });
    await world.serve('app', () => {});
    const [one, two] = [session.request({}), session.request({})];
    for (const stream of [one, two]) stream.on('error', () => {});
    assert.equal(await codeOf(session.request({})), constants.NGHTTP2_REFUSED_STREAM);
    one.close(constants.NGHTTP2_CANCEL);
    await world.eventually(() => world.gateway.stats().connections === 2, 'its place is free');
    await world.serve('app', (_request, response) => response.end());
    assert.equal(await statusOf(session), 200);
  });

  it('ends a connection that resets streams without end, and serves others', async (test) => {
    const { world, session } = await open(test);
    let served = 0;
    await world.serve('app', (_request, response) => {
      served += 1;
      response.end();
    });
    const ended = once(session, 'close');
    const flood = (): void => {
      for (let i = 0; i < 100 && !session.destroyed; i += 1) {
        const stream = session.request({});
        stream.on('error', () => {});
        stream.close(constants.NGHTTP2_CANCEL);
      }
      if (!session.destroyed) setImmediate(flood);
    };
    flood();
    await within('the end of the flood', ended);
    await world.eventually(() => world.gateway.stats().connections === 0, 'nothing is left of it');
    assert.ok(served < 5_000, `${served} requests reached the service`);
    assert.match(
      await world.ask('GET / HTTP/1.1\r\nHost: app.share.localhost\r\nConnection: close\r\n\r\n'),
      / 200 /,
    );
  });

  it('refuses heads that are too large or have too many fields', async (test) => {
    const { world, session } = await open(test, { limits: { maxHeadBytes: 8_192, maxFields: 20 } });
    await world.serve('app', (_request, response) => response.end());
    assert.equal(await statusOf(session, { 'x-large': 'a'.repeat(7_000) }), 200);
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`x-${at}`, 'a']));
    assert.equal(await statusOf(session, many), 431);
    // Browsers have to get the page that clears their cookies.
    assert.equal(await statusOf(session, { cookie: `a=${'a'.repeat(40_000)}` }), 431);
  });

  it('ends a connection that has had no stream for a while, and no other', async (test) => {
    const time = new ManualTime();
    const { world, session } = await open(test, { time });
    await world.serve('app', (request, response) => {
      if (request.url === '/') response.end();
    });
    assert.equal(await statusOf(session), 200);
    const running = session.request({ ':path': '/running' });
    running.on('error', () => {});
    await world.eventually(() => world.gateway.stats().openCircuits > 0, 'it runs');
    time.advance(50_000);
    assert.equal(session.destroyed, false);
    running.close(constants.NGHTTP2_CANCEL);
    await world.eventually(() => world.gateway.stats().connections === 1, 'no stream is left');
    const ended = once(session, 'close');
    time.advance(61_000);
    await within('its end', ended);
  });

  it('resets a stream whose client does not read a complete response', async (test) => {
    const time = new ManualTime();
    const { world, session } = await open(test, { time });
    await world.serve('app', (_request, response) => response.end('a'.repeat(20_000)));
    session.settings({ initialWindowSize: 0 });
    await within('the settings', once(session, 'localSettings'));
    const stream = session.request({});
    await within('the head', once(stream, 'response'));
    const ended = codeOf(stream);
    time.advance(700_000);
    assert.equal(await ended, constants.NGHTTP2_INTERNAL_ERROR);
    await world.eventually(() => world.gateway.stats().connections === 1, 'the stream is no longer counted');
  });

  it('ends a connection that stays silent, even if its client does not close it', async (test) => {
    const time = new ManualTime();
    const { world } = await open(test, { time });
    await silentClient(test, world);
    assert.equal(world.gateway.stats().connections, 2);
    await world.eventually(() => {
      time.advance(1_000);
      return world.gateway.stats().connections === 0;
    }, 'it ends');
  });

  it('closes without those whose clients ignore that it closes', async (test) => {
    const time = new ManualTime();
    const { world } = await open(test, { time });
    await silentClient(test, world);
    assert.equal(world.gateway.stats().connections, 2);
    const closing = world.gateway.close({ drainMs: 60_000 });
    time.advance(2_000);
    await within('the end of the gateway', closing);
    await world.eventually(() => world.gateway.stats().connections === 0, 'nothing is left');
  });

  it('lets running requests end when the gateway closes, and takes no others', async (test) => {
    const { world, session } = await open(test);
    const arrived = Promise.withResolvers<() => void>();
    await world.serve('app', (_request, response) => arrived.resolve(() => response.end('done')));
    const running = session.request({});
    let text = '';
    running.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const answer = await within('the request', arrived.promise);
    const told = once(session, 'goaway');
    const closing = world.gateway.close({ drainMs: 10_000 });
    await within('a GOAWAY', told);
    answer();
    await within('the response', once(running, 'close'));
    assert.equal(text, 'done');
    await within('the end of the gateway', closing);
  });
});
