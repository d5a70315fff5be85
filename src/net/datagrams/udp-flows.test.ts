// Flows of a real UDP socket; the clock of their idle ends is moved by hand.
import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { test, type TestContext } from 'node:test';
import { ManualClock, silentLog } from '#base';
import { until, within } from '../../../test/support/deadline.ts';
import type { DatagramConnection } from './datagram-connection.ts';
import { UdpFlows, type UdpFlowsOptions } from './udp-flows.ts';

interface FlowsWorld {
  readonly flows: UdpFlows;
  readonly clock: ManualClock;
  readonly opened: DatagramConnection[];
}

async function openFlows(t: TestContext, options: Partial<UdpFlowsOptions> = {}): Promise<FlowsWorld> {
  const clock = new ManualClock();
  const opened: DatagramConnection[] = [];
  const flows = await UdpFlows.open({
    name: 'listeners[0]',
    network: 'udp',
    host: '127.0.0.1',
    port: 0,
    idleTimeoutMs: 60_000,
    checkIntervalMs: 10_000,
    clock,
    log: silentLog,
    ...options,
    onFlow: (flow, first, key) => {
      opened.push(flow);
      if (options.onFlow !== undefined) return options.onFlow(flow, first, key);
      flow.receive(first);
      return undefined;
    },
  });
  t.after(() => {
    for (const flow of opened) flow.destroy();
    return flows.close();
  });
  return { flows, clock, opened };
}

async function client(t: TestContext, port: number): Promise<{ socket: Socket; got: string[] }> {
  const socket = createSocket('udp4');
  const got: string[] = [];
  socket.on('message', (datagram) => void got.push(datagram.toString()));
  t.after(() => void socket.close());
  await new Promise<void>((resolve) => socket.connect(port, '127.0.0.1', resolve));
  return { socket, got };
}

function answer(flow: DatagramConnection, prefix: string): void {
  flow.on('data', (datagram: Uint8Array) => void flow.write(Buffer.concat([Buffer.from(prefix), datagram])));
}

test('each source has a flow of its own, and is answered from the port that it sent to', async (t) => {
  const { flows, opened } = await openFlows(t, {
    onFlow: (flow, first, key) => {
      answer(flow, `${key.split(' ')[1]!}:`);
      flow.receive(first);
    },
  });
  const clients = await Promise.all([client(t, flows.port), client(t, flows.port)]);
  for (const { socket } of clients) for (const text of ['one', 'two', 'three']) socket.send(text);
  for (const { socket, got } of clients) {
    await until(
      'the answers',
      () => got.length,
      (count) => count === 3,
    );
    const { port } = socket.address();
    assert.deepEqual(got, [`${port}:one`, `${port}:two`, `${port}:three`]);
  }
  assert.equal(flows.count, 2);
  assert.deepEqual([opened[0]!.localAddress, opened[0]!.localPort], ['127.0.0.1', flows.port]);
});

test('datagrams keep their bounds in both directions, from one byte to the largest', async (t) => {
  const { flows } = await openFlows(t, {
    onFlow: (flow, first) => {
      answer(flow, '');
      flow.receive(first);
    },
  });
  const { socket, got } = await client(t, flows.port);
  const sizes = [1, 1_472, 9_000, 65_507];
  for (const size of sizes) socket.send(Buffer.alloc(size, 120));
  await until(
    'the answers',
    () => got.length,
    (count) => count === sizes.length,
  );
  assert.deepEqual(
    got.map(({ length }) => length),
    sizes,
  );
});

test('a flow that is not read keeps 16 datagrams, in order, and drops those that follow', async (t) => {
  const { flows, opened } = await openFlows(t);
  const { socket } = await client(t, flows.port);
  for (let i = 0; i < 40; i += 1) socket.send(`${i}`);
  await until(
    'the flow',
    () => opened.length,
    (count) => count === 1,
  );
  const other = await client(t, flows.port);
  other.socket.send('last');
  await until(
    'all datagrams',
    () => opened.length,
    (count) => count === 2,
  );
  const read: string[] = [];
  opened[0]!.on('data', (datagram: Uint8Array) => void read.push(Buffer.from(datagram).toString()));
  await until(
    'what was kept',
    () => read.length,
    (count) => count >= 16,
  );
  assert.deepEqual(
    read,
    Array.from({ length: 16 }, (_, i) => `${i}`),
  );
  assert.equal(flows.waitingBytes, 4);
});

test('a flow without datagrams in either direction ends, and its source gets a new one', async (t) => {
  const { flows, clock, opened } = await openFlows(t);
  const { socket } = await client(t, flows.port);
  socket.send('first');
  await until(
    'the flow',
    () => opened.length,
    (count) => count === 1,
  );
  const flow = opened[0]!;
  const ended = Promise.withResolvers<void>();
  flow.on('end', ended.resolve);
  flow.resume();
  clock.advance(59_000);
  flow.write('something for the source');
  clock.advance(59_000);
  flows.check();
  assert.equal(flow.hasEnded, false);
  clock.advance(1_000);
  flows.check();
  await within('the end', ended.promise);
  socket.send('second');
  await until(
    'another flow',
    () => opened.length,
    (count) => count === 2,
  );
  const closed = Promise.withResolvers<void>();
  flow.on('close', closed.resolve);
  flow.end();
  await within('the close', closed.promise);
  assert.equal(flows.count, 1);
});

test('the far end’s end closes the flow: datagrams have no half-close', async (t) => {
  const { flows, opened } = await openFlows(t);
  const { socket, got } = await client(t, flows.port);
  socket.send('first');
  await until(
    'the flow',
    () => opened.length,
    (count) => count === 1,
  );
  opened[0]!.resume();
  opened[0]!.end('last');
  await until(
    'the last datagram',
    () => got,
    (texts) => texts.includes('last'),
  );
  await until(
    'no flow to be left',
    () => flows.count,
    (count) => count === 0,
  );
});

test('more sources than allowed get no flow, and those that have one continue', async (t) => {
  const { flows, opened } = await openFlows(t, { maxFlows: 2 });
  const clients = await Promise.all([1, 2, 3].map(() => client(t, flows.port)));
  for (const { socket } of clients.slice(0, 2)) socket.send('a');
  await until(
    'two flows',
    () => opened.length,
    (count) => count === 2,
  );
  answer(opened[0]!, 'got ');
  clients[2]!.socket.send('a');
  clients[0]!.socket.send('b');
  clients[1]!.socket.send('b');
  const mine = clients.find(({ socket }) => socket.address().port === opened[0]!.remotePort)!;
  await until(
    'the answers',
    () => mine.got,
    (texts) => texts.length === 2,
  );
  assert.equal(opened.length, 2);
});

test('a refused source is dropped for a second, then it may try again', async (t) => {
  const { flows, clock, opened } = await openFlows(t, {
    onFlow: (flow, _first, key) => flows.refuse(key, flow),
  });
  const { socket } = await client(t, flows.port);
  const marker = await client(t, flows.port);
  socket.send('a');
  await until(
    'the flow',
    () => opened.length,
    (count) => count === 1,
  );
  socket.send('b');
  marker.socket.send('a');
  await until(
    'the other flow',
    () => opened.length,
    (count) => count === 2,
  );
  assert.notEqual(opened[1]!.remotePort, opened[0]!.remotePort);
  clock.advance(1_001);
  socket.send('c');
  await until(
    'another try',
    () => opened.length,
    (count) => count === 3,
  );
  assert.equal(opened[2]!.remotePort, opened[0]!.remotePort);
});

test('after close, flows continue and no source gets a new one; the port closes with the last flow', async (t) => {
  const { flows, opened } = await openFlows(t);
  const { socket, got } = await client(t, flows.port);
  socket.send('first');
  await until(
    'the flow',
    () => opened.length,
    (count) => count === 1,
  );
  let isClosed = false;
  const closed = flows.close().then(() => (isClosed = true));
  const late = await client(t, flows.port);
  late.socket.send('late');
  answer(opened[0]!, 'got ');
  socket.send('second');
  await until(
    'the answers',
    () => got,
    (texts) => texts.length === 2,
  );
  assert.deepEqual([opened.length, isClosed], [1, false]);
  opened[0]!.destroy();
  await within('the port to close', closed);
});

test('a port that is taken is named with its listener', async (t) => {
  const { flows } = await openFlows(t);
  const message = `listeners[0]: 127.0.0.1:${flows.port} is taken`;
  await assert.rejects(openFlows(t, { port: flows.port }), { code: 'port-taken', message });
});

test('a burst of sources opens a limited number of circuits at once; the others wait in order, and not for long', async (t) => {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const { flows, clock, opened } = await openFlows(t, {
    onFlow: (flow, first) => {
      begun.push(first.toString());
      flow.receive(first);
      return new Promise<void>((resolve) => ends.push(resolve));
    },
  });
  const clients = await Promise.all(Array.from({ length: 140 }, () => client(t, flows.port)));
  for (const [at, { socket }] of clients.entries()) {
    socket.send(`${at}`);
    await count(flows, at + 1);
  }
  const wanted = Array.from({ length: 128 }, (_, at) => `${at}`);
  assert.deepEqual(begun, wanted);
  // A later datagram of a source that waits follows its first one.
  clients[128]!.socket.send('128, again');
  await until(
    'the later datagram',
    () => flows.waitingBytes,
    (bytes) => bytes > 128 * 2,
  );
  ends.shift()!();
  await until(
    'the next circuit',
    () => begun.length,
    (length) => length === 129,
  );
  assert.equal(begun.at(-1), '128');
  const got: string[] = [];
  opened.at(-1)!.on('data', (datagram: Uint8Array) => got.push(Buffer.from(datagram).toString()));
  await until(
    'both datagrams',
    () => got.length,
    (length) => length === 2,
  );
  assert.deepEqual(got, ['128', '128, again']);
  clock.advance(5_000);
  flows.check();
  await count(flows, 129);
  for (const end of ends.splice(0)) end();
  clients[139]!.socket.send('139, later');
  await until(
    'a source that was left out',
    () => begun.at(-1),
    (last) => last === '139, later',
  );
});

function count(flows: UdpFlows, wanted: number): Promise<unknown> {
  return until(
    `${wanted} flows`,
    () => flows.count,
    (found) => found === wanted,
  );
}
