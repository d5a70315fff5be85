// Routes with the binding `transport`: connections, and the codes of failures.
import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { generateEncryptionKeys } from '#sdk';
import { headerId } from '#wire';
import { RouteErrorCode } from '#wire/circuits';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import { until, within } from '../../../test/support/deadline.ts';
import { freePort } from '../../../test/support/free-port.ts';
import { closerOf } from '../../../test/support/server-sockets.ts';
import { listeningPort, TransportWorld } from './testing/transport-world.ts';

test('an address that is none, or of a type that cannot be dialed, is a misconfigured terminator', async (t) => {
  const world = new TransportWorld(t);
  for (const address of [
    '127.0.0.1:80',
    'tcp:127.0.0.1',
    'udp:127.0.0.1',
    'tcp://host:1',
    'tcp:host:99999',
  ]) {
    const { isSuccess, errorCode, error } = await world.dial(address);
    assert.deepEqual([isSuccess, errorCode], [false, RouteErrorCode.misconfiguredTerminator], address);
    assert.ok(error.includes(address));
  }
});

test('a service that refuses and an unknown name each have a code', async (t) => {
  const world = new TransportWorld(t);
  const gone = `tcp:127.0.0.1:${await freePort()}`;
  assert.equal((await world.dial(gone)).errorCode, RouteErrorCode.connectionRefused);
  // Longer than a label can be, so the name is refused without a DNS query on any network.
  const unknown = `tcp:${'x'.repeat(64)}.invalid:80`;
  assert.equal((await world.dial(unknown)).errorCode, RouteErrorCode.dnsFailed);
  assert.equal(world.far.forwarder.circuitCount, 0);
});

/** Listens with a full queue of connections, so that the next connection waits indefinitely. */
async function silentService(t: { after(hook: () => void): void }): Promise<string> {
  const tls = createServer((socket: Socket) => void socket.on('error', () => {}));
  t.after(closerOf(tls));
  await new Promise<void>((resolve) => tls.listen(0, '127.0.0.1', resolve));
  return `tls:127.0.0.1:${listeningPort(tls)}`;
}

test('connectTimeout ends a dial that gets nowhere with the code of a time-out', async (t) => {
  const authority = await makeTestAuthority();
  const world = new TransportWorld(t, {
    egress: { connectTimeoutMs: 60 },
    tls: await authority.issue('router'),
  });
  const { errorCode, error } = await world.dial(await silentService(t));
  assert.equal(errorCode, RouteErrorCode.dialTimeout);
  assert.match(error, /within 60 ms/);
});

test('without one, the time that the Route gives does', async (t) => {
  const authority = await makeTestAuthority();
  const world = new TransportWorld(t, { tls: await authority.issue('router') });
  const destination = await silentService(t);
  const result = await world.far.route({
    circuitId: 'c1',
    timeout: 80_000_000n,
    egress: { binding: 'transport', address: 'out', destination },
  });
  assert.deepEqual([result.isSuccess, result.errorCode], [false, RouteErrorCode.dialTimeout]);
});

test('a circuit that is taken away while its service is dialed ends the dial', async (t) => {
  const authority = await makeTestAuthority();
  const world = new TransportWorld(t, { tls: await authority.issue('router') });
  const result = world.far.route({
    circuitId: 'c1',
    timeout: 60_000_000_000n,
    egress: { binding: 'transport', address: 'out', destination: await silentService(t) },
  });
  await until(
    'the dial',
    () => world.far.routes.pool.busyCount,
    (busy) => busy === 1,
  );
  world.far.unroute('c1', true);
  assert.equal((await within('the answer', result)).isSuccess, false);
  assert.equal(world.far.forwarder.circuitCount, 0);
});

test('tls: addresses are dialed with the router’s certificate, and only services that prove themselves', async (t) => {
  const authority = await makeTestAuthority();
  const own = await authority.issue('router');
  const world = new TransportWorld(t, { tls: own });
  const seen: string[] = [];
  const serveTls = async (identity: { cert: string; key: string }): Promise<string> => {
    const options = { ...identity, ca: own.ca, requestCert: true, rejectUnauthorized: false };
    const server = createTlsServer(options, (socket: TLSSocket) => {
      seen.push(socket.getPeerX509Certificate()?.subject ?? 'nobody');
      socket.on('error', () => {});
      t.after(() => socket.destroy());
    });
    server.on('tlsClientError', () => {});
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    t.after(() => server.close());
    return `tls:localhost:${listeningPort(server)}`;
  };
  assert.equal((await world.dial(await serveTls(await authority.issue('service')))).isSuccess, true);
  await until(
    'the service’s connection',
    () => seen,
    (subjects) => subjects.length === 1,
  );
  assert.deepEqual(seen, ['CN=router']);
  const impostor = await (await makeTestAuthority('other CA')).issue('service');
  const { isSuccess, error } = await world.dial(await serveTls(impostor));
  assert.equal(isSuccess, false);
  assert.match(error, /^cannot connect to the service: [A-Z_]+$/);
});

test('edge_transport answers a dialer’s key with one of its own, and dials streams only', async (t) => {
  const world = new TransportWorld(t);
  await world.serve('echo', (socket) => void socket.pipe(socket));
  const { publicKey } = headerId.peerData;
  let count = 0;
  const dial = (destination: string, key?: Uint8Array) =>
    world.far.route({
      circuitId: `c${(count += 1)}`,
      timeout: 30_000_000_000n,
      egress: {
        binding: 'edge_transport',
        address: `out${count}`,
        destination,
        ...(key === undefined ? {} : { peerData: [{ key: publicKey, value: key }] }),
      },
    });
  const echo = world.services.get('echo')!;
  const sealed = await dial(echo, generateEncryptionKeys().publicKey);
  assert.deepEqual([sealed.isSuccess, sealed.peerData.get(publicKey)?.length], [true, 32]);
  const plain = await dial(echo);
  assert.deepEqual([plain.isSuccess, plain.peerData.has(publicKey)], [true, false]);
  const malformed = await dial(echo, Uint8Array.of(1, 2));
  assert.match(malformed.error, /malformed key/);
  const { errorCode } = await dial('udp:127.0.0.1:53');
  assert.equal(errorCode, RouteErrorCode.misconfiguredTerminator);
});
