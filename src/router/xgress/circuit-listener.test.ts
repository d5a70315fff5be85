// Proxy and transport listeners at one router, the transport dialer at the other, with real sockets at both ends.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { textOf } from '#base';
import { headerId } from '#wire';
import { peerDataOfEntries } from '#wire/circuits';
import { makeTestAuthority } from '../../../test/support/certificates.ts';
import { until, within } from '../../../test/support/deadline.ts';
import { CircuitListener } from './circuit-listener.ts';
import { TransportWorld } from './testing/transport-world.ts';

const MIB = 1024 * 1024;

function dial(t: TestContext, port: number): Socket {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {});
  t.after(() => socket.destroy());
  return socket;
}

function textFrom(socket: Socket): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => void chunks.push(chunk));
  socket.on('end', () => resolve(Buffer.concat(chunks).toString('latin1')));
  return within('the end of the stream', promise);
}

/** `end` for a clean end, otherwise the error's code. */
function endingOf(socket: Socket): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.on('end', () => resolve('end'));
  socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
  socket.on('close', () => resolve('close'));
  socket.resume();
  return within('the connection to end', promise);
}

function echo(socket: Socket): void {
  socket.pipe(socket);
}

test('each connection of a proxy listener becomes a circuit to its service, whole both ways and half-closable', async (t) => {
  const world = new TransportWorld(t);
  await world.serve('echo', echo);
  const { port } = await world.listen('proxy');
  const sent = randomBytes(2 * MIB);
  const clients = Array.from({ length: 4 }, () => dial(t, port));
  const got = clients.map((client) => textFrom(client));
  for (const client of clients) client.end(sent);
  for (const text of await Promise.all(got)) assert.equal(hash(Buffer.from(text, 'latin1')), hash(sent));
  assert.ok(world.requests.every(({ service }) => service === 'echo'));
  await until(
    'no end to be left',
    () => world.near.ends.count + world.far.ends.count,
    (ends) => ends === 0,
  );
});

test('the controller receives the addresses of the client, the dialing side those of the service', async (t) => {
  const world = new TransportWorld(t);
  await world.serve('echo', echo);
  const { port } = await world.listen('proxy');
  const client = dial(t, port);
  await until('the connection', () => client.localPort, Boolean);
  const { localPort } = client;
  client.end('x');
  await textFrom(client);
  const peerData = peerDataOfEntries(world.requests[0]!.peerData);
  const { peerData: keys } = headerId;
  assert.equal(textOf(peerData.get(keys.initiatorLocalAddress)!), `127.0.0.1:${port}`);
  assert.equal(textOf(peerData.get(keys.initiatorRemoteAddress)!), `127.0.0.1:${localPort}`);
  const { peerData: answer } = world.results[0]!;
  assert.equal(`tcp:${textOf(answer.get(keys.terminatorRemoteAddress)!)}`, world.services.get('echo'));
  assert.match(textOf(answer.get(keys.terminatorLocalAddress)!), /^127\.0\.0\.1:\d+$/);
});

test('a client of a transport listener names its service in a line, and is answered by one before its bytes', async (t) => {
  const world = new TransportWorld(t);
  await world.serve('other', echo);
  const { port } = await world.listen('transport');
  const client = dial(t, port);
  const got = textFrom(client);
  client.write('{"id":"me","svc');
  client.end('Id":"other"}\nfirst bytes');
  const [line = '', ...rest] = (await got).split('\n');
  assert.deepEqual(JSON.parse(line), { scc: true, msg: '', circuitId: 'circuit1' });
  assert.equal(rest.join('\n'), 'first bytes');
  assert.deepEqual([world.requests[0]!.ingressId, world.requests[0]!.service], ['me', 'other']);
});

test('a request that is malformed, too long or for no service is answered with why, and ends', async (t) => {
  const world = new TransportWorld(t);
  const { port } = await world.listen('transport');
  const reasons: [request: string, reason: RegExp][] = [
    ['no json\n', /no JSON/],
    ['{"id":"x"}\n', /svcId/],
    ['x'.repeat(5_000), /longer than/],
    ['{"id":"x","svcId":"nothing"}\n', /no service nothing/],
  ];
  for (const [request, reason] of reasons) {
    const client = dial(t, port);
    const got = textFrom(client);
    client.write(request);
    const answer = JSON.parse(await got) as { scc: boolean; msg: string };
    assert.equal(answer.scc, false);
    assert.match(answer.msg, reason);
  }
});

test('a proxy’s client whose circuit is refused sees a broken connection, not an empty answer', async (t) => {
  const world = new TransportWorld(t);
  const { port } = await world.listen('proxy');
  const client = dial(t, port);
  assert.notEqual(await endingOf(client), 'end');
});

test('getCircuitTimeout bounds how long a connection waits for its circuit', async (t) => {
  const world = new TransportWorld(t, { ingress: { getCircuitTimeoutMs: 40 } });
  world.near.controller.answers.clear();
  const { port } = await world.listen('transport');
  const client = dial(t, port);
  const got = textFrom(client);
  client.write('{"svcId":"echo"}\n');
  assert.match(await got, /no response within [1-4]?\d ms/);
});

test('a client that left while its circuit was made leaves none behind', async (t) => {
  const world = new TransportWorld(t);
  await world.serve('echo', echo);
  const { port } = await world.listen('proxy');
  const answer = world.near.controller.answers;
  const grant = [...answer.values()][0]!;
  const asked = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  answer.forEach((_value, type) =>
    answer.set(type, (request, channel) => {
      asked.resolve();
      void left.promise.then(() => grant(request, channel));
    }),
  );
  const client = dial(t, port);
  await within('the request', asked.promise);
  client.resetAndDestroy();
  await until('the client to be gone', () => client.destroyed, Boolean);
  left.resolve();
  const { subject, id } = await world.near.controller.next('fault');
  assert.deepEqual([subject, id], [0, 'circuit1']);
  await until(
    'no end to be left',
    () => world.near.ends.count,
    (ends) => ends === 0,
  );
});

test('a client that breaks off reaches the service as a broken connection, and the other way round', async (t) => {
  const world = new TransportWorld(t);
  const services: Socket[] = [];
  await world.serve('echo', (socket) => void services.push(socket));
  const { port } = await world.listen('proxy');
  const client = dial(t, port);
  client.write('half of a req');
  await until(
    'the service’s connection',
    () => services.length,
    (count) => count === 1,
  );
  const broken = endingOf(services[0]!);
  await until(
    'the bytes',
    () => services[0]!.bytesRead,
    (bytes) => bytes > 0,
  );
  client.resetAndDestroy();
  await world.near.controller.next('fault');
  world.far.unroute('circuit1', true);
  assert.notEqual(await broken, 'end');

  const second = dial(t, port);
  const ending = endingOf(second);
  await until(
    'the service’s connection',
    () => services.length,
    (count) => count === 2,
  );
  services[1]!.write('half of an ans');
  await until(
    'the bytes',
    () => second.bytesRead,
    (bytes) => bytes > 0,
  );
  services[1]!.resetAndDestroy();
  await world.far.controller.next('fault');
  world.near.unroute('circuit2', true);
  assert.notEqual(await ending, 'end');
});

test('a slow reader costs a bounded amount of memory and gets all in the end', async (t) => {
  const world = new TransportWorld(t, {
    ingress: { rxBufferSize: 256 * 1024, txPortalMaxSize: 256 * 1024 },
    egress: { txPortalStartSize: 256 * 1024, txPortalMaxSize: 256 * 1024 },
  });
  const all = randomBytes(24 * MIB);
  await world.serve('echo', (socket) => void socket.end(all));
  const { port } = await world.listen('proxy');
  const client = dial(t, port);
  client.pause();
  await until(
    'the sender to be blocked',
    () => world.far.ends.counters.remoteWindowBlocks + world.far.ends.counters.localWindowBlocks,
    (n) => n > 0,
  );
  assert.ok(world.far.ends.counters.unackedBytes < MIB);
  assert.ok(client.bytesRead < 20 * MIB);
  assert.equal(hash(Buffer.from(await textFrom(client.resume()), 'latin1')), hash(all));
});

test('a listener of type tls serves clients without a certificate and half-closes too', async (t) => {
  const tls = await (await makeTestAuthority()).issue('router');
  const world = new TransportWorld(t, { tls });
  await world.serve('echo', echo);
  const { port } = await world.listen('proxy', 'tls');
  const options = { port, host: '127.0.0.1', ca: tls.ca, servername: 'localhost', allowHalfOpen: true };
  const client = connectTls(options);
  t.after(() => client.destroy());
  const got = textFrom(client);
  const sent = randomBytes(300_000);
  client.end(sent);
  assert.equal(hash(Buffer.from(await got, 'latin1')), hash(sent));
});

test('a port that is taken is named with its listener', async (t) => {
  const world = new TransportWorld(t);
  const { port } = await world.listen('proxy');
  const taken = CircuitListener.open({
    config: {
      path: 'listeners[3]',
      binding: 'transport',
      advertise: '',
      address: { type: 'tcp', host: '127.0.0.1', port },
      xgress: world.near.xgress,
    },
    place: 'router.yml:3: listeners[3].bind',
    circuits: undefined!,
    ports: undefined!,
    tls: undefined!,
    handshakeTimeoutMs: 1,
    log: undefined!,
  });
  await assert.rejects(taken, {
    code: 'port-taken',
    message: `router.yml:3: listeners[3].bind: 127.0.0.1:${port} is taken`,
  });
});

test('a listener that closes takes no connections now and leaves its circuits alone', async (t) => {
  const world = new TransportWorld(t);
  await world.serve('echo', echo);
  const listener = await world.listen('proxy');
  const { port } = listener;
  const client = dial(t, port);
  const got = textFrom(client);
  client.write('before');
  await until(
    'the echo',
    () => client.bytesRead,
    (bytes) => bytes === 6,
  );
  listener.close();
  assert.equal(await endingOf(dial(t, port)), 'ECONNREFUSED');
  client.end(' and after');
  assert.equal(await got, 'before and after');
});

function hash(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
