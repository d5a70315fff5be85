// Listeners of datagrams at one router, the dialers at the other, with real sockets at both ends.
import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { test, type TestContext } from 'node:test';
import { ManualClock, textOf } from '#base';
import { headerId } from '#wire';
import { peerDataOfEntries, RouteErrorCode } from '#wire/circuits';
import { PAYLOAD_FLAGS, PayloadFrame, type DataFrame } from '#wire/xgress';
import { until } from '../../../test/support/deadline.ts';
import { TransportWorld, type TransportWorldOptions } from './testing/transport-world.ts';

interface Client {
  readonly socket: Socket;
  readonly got: Buffer[];
  readonly texts: () => string[];
}

async function client(t: TestContext, port: number): Promise<Client> {
  const socket = createSocket('udp4');
  const got: Buffer[] = [];
  socket.on('message', (datagram) => void got.push(datagram));
  t.after(() => void socket.close());
  await new Promise<void>((resolve) => socket.connect(port, '127.0.0.1', resolve));
  return { socket, got, texts: () => got.map(String) };
}

async function received(from: Client, count: number): Promise<string[]> {
  await until(
    `${count} datagrams`,
    () => from.got.length,
    (length) => length >= count,
  );
  return from.texts();
}

/** Sends back each datagram, with the port that it came from before it. */
async function echoWorld(
  t: TestContext,
  binding = 'udp',
  options: TransportWorldOptions = {},
): Promise<TransportWorld> {
  const world = new TransportWorld(t, options);
  await world.serveUdp('echo', (socket, data, { port, address }) =>
    socket.send(Buffer.concat([Buffer.from(`${port} `), data]), port, address),
  );
  world.services.set('echo', world.services.get('echo')!.replace('udp:', `${binding}:`));
  return world;
}

for (const [dialer, network] of [
  ['transport_udp', 'udp4'],
  ['transport', 'udp'],
] as const)
  test(`each source of a proxy_udp listener has a circuit, and at a ${dialer} dialer a socket`, async (t) => {
    const world = await echoWorld(t, network);
    const { port } = await world.listenUdp('echo');
    const clients = await Promise.all([1, 2, 3].map(() => client(t, port)));
    for (const [i, { socket }] of clients.entries())
      for (const text of ['a', 'b']) socket.send(`${text}${i}`);
    const sources = new Set<string>();
    for (const [i, one] of clients.entries()) {
      const answers = (await received(one, 2)).map((text) => text.split(' '));
      assert.deepEqual(
        answers.map(([, text]) => text),
        [`a${i}`, `b${i}`],
      );
      sources.add(answers[0]![0]!);
    }
    assert.equal(sources.size, 3);
    assert.equal(world.requests.length, 3);
  });

test('one datagram stays one datagram through the mesh, whatever its size', async (t) => {
  const world = await echoWorld(t);
  const { port } = await world.listenUdp('echo');
  const one = await client(t, port);
  const sizes = [1, 1_400, 9_000, 20_000, 60_000];
  for (const [i, size] of sizes.entries()) {
    one.socket.send(Buffer.alloc(size, 'x'));
    await received(one, i + 1);
  }
  const prefix = one.got[0]!.length - 1;
  assert.deepEqual(
    one.got.map(({ length }) => length - prefix),
    sizes,
  );
});

test('mtu of a listener and of a dialer cuts payloads of the circuit, and a datagram still arrives as one', async (t) => {
  const lengths = { request: [] as number[], answer: [] as number[] };
  const onData = (frame: DataFrame): void => {
    if (!(frame instanceof PayloadFrame)) return;
    const isRequest = (frame.flags & PAYLOAD_FLAGS.originator) === 0;
    lengths[isRequest ? 'request' : 'answer'].push(frame.data.length);
  };
  const options = { ingress: { mtu: 900 }, egress: { mtu: 700 }, link: { onData } };
  const world = await echoWorld(t, 'udp4', options);
  const { port } = await world.listenUdp('echo');
  const one = await client(t, port);
  one.socket.send(Buffer.alloc(30_000, 'x'));
  await received(one, 1);
  assert.ok(one.got[0]!.length > 30_000);
  assert.deepEqual([Math.max(...lengths.request), Math.max(...lengths.answer)], [900, 700]);
});

test('getCircuitTimeout bounds how long a source waits for its circuit', async (t) => {
  const world = new TransportWorld(t, { ingress: { getCircuitTimeoutMs: 40 } });
  world.near.controller.answers.clear();
  const { port } = await world.listenUdp(undefined);
  const one = await client(t, port);
  one.socket.send('{"svcId":"echo"}');
  const [answer = ''] = await received(one, 1);
  assert.match(answer, /no response within [1-4]?\d ms/);
});

test('the controller receives the address of the source, the dialing side that of the service', async (t) => {
  const world = await echoWorld(t, 'udp4');
  const { port } = await world.listenUdp('echo');
  const one = await client(t, port);
  one.socket.send('x');
  await received(one, 1);
  const peerData = peerDataOfEntries(world.requests[0]!.peerData);
  const { peerData: keys } = headerId;
  assert.equal(textOf(peerData.get(keys.initiatorLocalAddress)!), `127.0.0.1:${port}`);
  assert.equal(textOf(peerData.get(keys.initiatorRemoteAddress)!), `127.0.0.1:${one.socket.address().port}`);
  const remote = textOf(world.results[0]!.peerData.get(keys.terminatorRemoteAddress)!);
  assert.equal(`udp4:${remote}`, world.services.get('echo'));
});

test('a client of a transport_udp listener names its service in a datagram, is answered by one, and then sends', async (t) => {
  const world = await echoWorld(t);
  const { port } = await world.listenUdp(undefined);
  const one = await client(t, port);
  one.socket.send('{"id":"me","svcId":"echo"}\n');
  const [line = ''] = await received(one, 1);
  assert.deepEqual(JSON.parse(line), { scc: true, msg: '', circuitId: 'circuit1' });
  assert.ok(line.endsWith('\n'));
  one.socket.send('first');
  assert.match((await received(one, 2))[1]!, / first$/);
  assert.deepEqual([world.requests[0]!.ingressId, world.requests[0]!.service], ['me', 'echo']);
});

test('a request that is malformed, too long or for no service is answered with why', async (t) => {
  const world = await echoWorld(t);
  const { port } = await world.listenUdp(undefined);
  const reasons: [request: string, reason: RegExp][] = [
    ['no json', /no JSON/],
    ['{"id":"x"}', /svcId/],
    ['x'.repeat(5_000), /longer than/],
    ['{"id":"x","svcId":"nothing"}', /no service nothing/],
  ];
  for (const [request, reason] of reasons) {
    const one = await client(t, port);
    one.socket.send(request);
    const answer = JSON.parse((await received(one, 1))[0]!) as { scc: boolean; msg: string };
    assert.equal(answer.scc, false);
    assert.match(answer.msg, reason);
  }
});

test('a source that is idle for a minute loses its circuit at both ends, and gets another one', async (t) => {
  const world = await echoWorld(t);
  const clock = new ManualClock();
  const listener = await world.listenUdp('echo', clock);
  const one = await client(t, listener.port);
  one.socket.send('a');
  await received(one, 1);
  clock.advance(59_999);
  listener.check();
  assert.equal(world.near.ends.count, 1);
  clock.advance(1);
  listener.check();
  await until(
    'no end to be left',
    () => world.near.ends.count + world.far.ends.count,
    (ends) => ends === 0,
  );
  one.socket.send('b');
  await received(one, 2);
  assert.equal(world.requests.length, 2);
});

test('a service that is gone resets the circuit, and the source gets another one', async (t) => {
  const world = await echoWorld(t, 'udp4');
  const back = world.services.get('echo')!;
  const gone = createSocket('udp4');
  await new Promise<void>((resolve) => gone.bind(0, '127.0.0.1', resolve));
  world.services.set('echo', `udp4:127.0.0.1:${gone.address().port}`);
  await new Promise<void>((resolve) => gone.close(resolve));
  const { port } = await world.listenUdp('echo');
  const one = await client(t, port);
  one.socket.send('a');
  await world.far.controller.next('fault');
  world.near.unroute('circuit1', true);
  await until(
    'no end to be left',
    () => world.near.ends.count + world.far.ends.count,
    (ends) => ends === 0,
  );
  world.services.set('echo', back);
  one.socket.send('b');
  assert.match((await received(one, 1))[0]!, / b$/);
});

test('addresses that are none and names that are unknown each have a code', async (t) => {
  const world = new TransportWorld(t);
  for (const address of ['udp4:host', 'udp4::1', 'udp4:host:99999']) {
    const { isSuccess, errorCode, error } = await world.dial(address);
    assert.deepEqual([isSuccess, errorCode], [false, RouteErrorCode.misconfiguredTerminator], address);
    assert.ok(error.includes(address));
  }
  const unknown = await world.dial(`udp4:${'x'.repeat(64)}.invalid:80`);
  assert.equal(unknown.errorCode, RouteErrorCode.dnsFailed);
});

test('a closed listener accepts no source, and its circuits continue', async (t) => {
  const world = await echoWorld(t);
  const listener = await world.listenUdp('echo');
  const [one, late] = await Promise.all([client(t, listener.port), client(t, listener.port)]);
  one.socket.send('a');
  await received(one, 1);
  listener.close();
  late.socket.send('x');
  one.socket.send('b');
  await received(one, 2);
  assert.equal(world.requests.length, 1);
});
