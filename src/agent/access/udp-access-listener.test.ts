// A UDP port of `frontdoor tunnel proxy`, with circuits in memory.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { test, type TestContext } from 'node:test';
import { ManualClock, silentLog } from '#base';
import type { Circuit } from '#sdk';
import { until, within } from '../../../test/support/deadline.ts';
import { memoryCircuit, type MemoryCircuit } from '../testing/memory-circuit.ts';
import { UdpAccessListener } from './udp-access-listener.ts';

const HOST = '127.0.0.1';
/** Checked four times as often, by a real timer. */
const IDLE_MS = 1_000;
const LONG_MS = 3_600_000;

interface World {
  readonly listener: UdpAccessListener;
  readonly clock: ManualClock;
  /** Ends of the hosts, which send each datagram back with the number of their circuit. */
  readonly hosts: MemoryCircuit[];
  /** Circuits that have ended at their host. */
  readonly ended: number[];
  refusal: Error | undefined;
}

async function open(
  t: TestContext,
  more: { readonly maxSources?: number; readonly idleTimeoutMs?: number } = {},
): Promise<World> {
  const clock = new ManualClock();
  const hosts: MemoryCircuit[] = [];
  const ended: number[] = [];
  const dial = async (): Promise<Circuit> => {
    if (world.refusal !== undefined) throw world.refusal;
    const { caller, host } = memoryCircuit();
    const number = hosts.push(host);
    host.onData = (datagram) => host.writeMessage(Buffer.concat([Buffer.from(`${number}:`), datagram]));
    host.onEnd = () => host.end();
    host.onClose = () => void ended.push(number);
    host.resume();
    return caller;
  };
  const listener = await UdpAccessListener.open({
    share: 'dns',
    place: 'a test',
    host: HOST,
    port: 0,
    idleTimeoutMs: LONG_MS,
    dial,
    log: silentLog,
    clock,
    ...more,
  });
  t.after(() => listener.close('the test is over'));
  const world: World = { listener, clock, hosts, ended, refusal: undefined };
  return world;
}

interface Source {
  send(text: string): void;
  /** Resolves with the next datagram that comes back. */
  ask(text: string): Promise<string>;
}

async function source(t: TestContext, { listener }: World): Promise<Source> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, HOST, resolve));
  t.after(() => void socket.close());
  const send = (text: string): void => socket.send(text, listener.port, HOST);
  return {
    send,
    ask(text) {
      const answer = new Promise<string>((resolve) => socket.once('message', (it) => resolve(String(it))));
      send(text);
      return within('the answer', answer);
    },
  };
}

const count = (what: string, now: () => number, wanted: number): Promise<unknown> =>
  until(what, now, (it) => it === wanted);

test('each source of datagrams has a circuit of its own, and gets its own answers whole', async (t) => {
  const world = await open(t);
  const [first, second] = [await source(t, world), await source(t, world)];
  const long = 'x'.repeat(60_000);
  assert.deepEqual(
    [await first.ask('a'), await second.ask('b'), await first.ask(long)],
    ['1:a', '2:b', `1:${long}`],
  );
  assert.equal(world.listener.connections, 2);
  assert.equal(world.listener.address, `${HOST}:${world.listener.port}`);
});

test('a source that is idle loses its circuit at both ends, and gets another one', async (t) => {
  const world = await open(t, { idleTimeoutMs: IDLE_MS });
  const client = await source(t, world);
  assert.equal(await client.ask('a'), '1:a');
  world.clock.advance(IDLE_MS - 1);
  assert.equal(await client.ask('b'), '1:b');
  world.clock.advance(IDLE_MS);
  await count('the end at the host', () => world.ended.length, 1);
  await count('no source', () => world.listener.connections, 0);
  assert.equal(await client.ask('c'), '2:c');
});

test('a source whose circuit breaks or is refused can try again', async (t) => {
  const world = await open(t);
  const client = await source(t, world);
  assert.equal(await client.ask('a'), '1:a');
  world.hosts[0]!.destroy('the host stopped');
  await count('no source', () => world.listener.connections, 0);
  world.refusal = new Error('no host');
  client.send('b');
  await until(
    'the refusal',
    () => (world.listener.problem === 'no host' ? world.listener.connections : -1),
    (sources) => sources === 0,
  );
  world.refusal = undefined;
  world.clock.advance(1_000);
  assert.equal(await client.ask('c'), '2:c');
});

test('sources above the limit get nothing, and do not disturb the others', async (t) => {
  const world = await open(t, { maxSources: 1 });
  const [first, second] = [await source(t, world), await source(t, world)];
  assert.equal(await first.ask('a'), '1:a');
  second.send('b');
  assert.equal(await first.ask('c'), '1:c');
  assert.equal(world.hosts.length, 1);
});

test('a stop lets an exchange end, takes no new source, and does not wait for sources that are quiet', async (t) => {
  const world = await open(t);
  const [first, late] = [await source(t, world), await source(t, world)];
  assert.equal(await first.ask('a'), '1:a');
  let isOver = false;
  const stopping = world.listener.drain(30_000, new AbortController().signal).then(() => (isOver = true));
  late.send('b');
  assert.equal(await first.ask('c'), '1:c');
  assert.deepEqual([isOver, world.hosts.length], [false, 1]);
  world.clock.advance(2_000);
  await within('the end of the stop', stopping);
  assert.deepEqual(world.ended, [1]);
});

test('a stop that is cut breaks what is open', async (t) => {
  const world = await open(t);
  const client = await source(t, world);
  assert.equal(await client.ask('a'), '1:a');
  await world.listener.drain(30_000, AbortSignal.abort());
  world.listener.close('the tunnel stopped');
  await count('the end at the host', () => world.ended.length, 1);
});

test('a port that is taken is refused with what chose it', async (t) => {
  const { listener } = await open(t);
  const { port } = listener;
  const place = '--service dns:5353:udp';
  const options = { share: 'dns', place, host: HOST, port, idleTimeoutMs: LONG_MS, log: silentLog };
  await assert.rejects(
    UdpAccessListener.open({ ...options, dial: () => Promise.reject(new Error('never')) }),
    {
      code: 'port-taken',
      message: `${place}: ${HOST}:${port} is taken`,
    },
  );
});
