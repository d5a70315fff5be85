import assert from 'node:assert/strict';
import { connect as connectPlain } from 'node:net';
import { afterEach, before, beforeEach, describe, it } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { makeTestAuthority, type TestIdentity } from '../../test/support/certificates.ts';
import { CertificateStore } from './certificates/certificate-store.ts';
import { GatewayWorld, get, once, statusOf } from './testing/gateway-world.ts';
import { within } from '../../test/support/deadline.ts';
import { RawClient } from './testing/raw-client.ts';
import { silentLog } from '#base';

const DRAIN_MS = 20_000;

describe('a gateway that is closing', () => {
  let served: TestIdentity;
  let world: GatewayWorld;
  /** Lets the request that waits be answered. */
  let answer: () => void;

  before(async () => {
    served = await (await makeTestAuthority()).issue('shares', { dns: ['*.share.localhost'] });
  });
  beforeEach(async () => {
    const store = await CertificateStore.open({ default: served, log: silentLog });
    const tls = { defaultCertificate: served, certificateFor: (name: string) => store.certificateFor(name) };
    world = await GatewayWorld.start({
      secure: { host: '127.0.0.1', port: 0, tls },
      // Longer than this process may be kept from reading.
      limits: { drainIdleMs: 3_000 },
    });
    const answers: (() => void)[] = [];
    answer = () => {
      for (const one of answers.splice(0)) one();
    };
    await world.serve('app', (request, response) => {
      if (request.url === '/held') answers.push(() => response.end('held'));
      else response.end('now');
    });
    await world.serveRaw('socket', (socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
        socket.on('data', (bytes) => socket.write(bytes));
      });
    });
  });
  afterEach(() => world.close());

  const closing = (drainMs = DRAIN_MS): Promise<void> => world.gateway.close({ drainMs });

  it('finishes requests that are under way, asks their clients to close, and accepts no new ones', async () => {
    const clients = await Promise.all(Array.from({ length: 20 }, () => world.client()));
    for (const client of clients) client.send(get('app', '/held', ''));
    await world.eventually(() => world.gateway.stats().requests === 20, 'all of them asked');
    const closed = closing();
    await world.eventually(() => {
      answer();
      return clients.every(({ isOpen }) => !isOpen);
    }, 'all are answered');
    for (const client of clients) {
      assert.match(client.received, /^HTTP\/1\.1 200 [^]*Connection: close[^]*held$/);
      assert.ok(!client.wasReset);
      client.close();
    }
    await within('the end of the gateway', closed);
    await assert.rejects(RawClient.connect(world.port), { code: 'ECONNREFUSED' });
  });

  it('serves connections that wait to be accepted, and those in their handshake', async () => {
    const plain = Array.from({ length: 50 }, () => {
      const socket = connectPlain({ port: world.port, host: '127.0.0.1', allowHalfOpen: true });
      socket.write(get('app'));
      return new RawClient(socket);
    });
    const secure = Array.from({ length: 10 }, () => {
      const options = {
        port: world.gateway.securePort!,
        host: '127.0.0.1',
        servername: 'app.share.localhost',
      };
      const socket = connectTls({ ...options, rejectUnauthorized: false });
      socket.write(get('app'));
      return new RawClient(socket);
    });
    // The last ones to connect: the kernel has taken all of them in, the gateway perhaps none.
    await Promise.all([...plain, ...secure].map(({ socket }) => once(socket, 'connect')));
    const closed = closing();
    const answers = await Promise.all([...plain, ...secure].map((client) => client.ended()));
    assert.deepEqual(
      answers.map(statusOf),
      answers.map(() => 200),
    );
    for (const client of [...plain, ...secure]) client.close();
    await within('the end of the gateway', closed);
  });

  it('answers a request that comes on a kept connection a moment later, and closes the others soon', async () => {
    const [busy, idle] = [await world.client(), await world.client()];
    for (const client of [busy, idle]) {
      client.send(get('app', '/', ''));
      await client.until((received) => received.endsWith('now'));
    }
    const closed = closing();
    busy.send(get('app', '/', ''));
    assert.match(await busy.ended(), /now[^]*HTTP\/1\.1 200 [^]*Connection: close[^]*now$/);
    await idle.ended();
    assert.ok(!busy.wasReset && !idle.wasReset);
    busy.close();
    idle.close();
    await within('the end of the gateway', closed);
  });

  it('cuts upgraded connections and slow requests at the end of the drain, or at a second signal', async () => {
    for (const end of ['time', 'asked again']) {
      if (end === 'asked again') await startAgain();
      const socket = await world.client();
      socket.send(
        'GET / HTTP/1.1\r\nHost: socket.share.localhost\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n',
      );
      await socket.until((received) => received.includes('101 Switching'));
      const held = await world.client();
      held.send(get('app', '/held'));
      await world.eventually(() => world.gateway.stats().requests === 2, 'both are under way');
      const closed = closing(end === 'time' ? 300 : DRAIN_MS);
      if (end === 'asked again') {
        socket.send('still here');
        await socket.until((received) => received.endsWith('still here'));
        void world.gateway.close();
      }
      await within('the end of the gateway', closed);
      await Promise.all([socket.ended(), held.ended()]);
      assert.equal(held.received, '');
      socket.close();
      held.close();
    }
  });

  async function startAgain(): Promise<void> {
    await world.close();
    world = await GatewayWorld.start();
    await world.serve('app', () => {});
    await world.serveRaw('socket', (socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
        socket.on('data', (bytes) => socket.write(bytes));
      });
    });
  }
});
