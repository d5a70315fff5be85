// The forwarder's timeouts, faults, traces and inspections. The data path is tested in mesh-data.test.ts.
import assert from 'node:assert/strict';
import { mock, test, type TestContext } from 'node:test';
import { ManualClock, silentLog, type Log } from '#base';
import {
  decodeControl,
  headerId,
  makeFrame,
  HeaderWriter,
  traceRequest,
  type ControlFrame,
  type Frame,
} from '#wire';
import { PayloadFrame, PAYLOAD_FLAGS } from '#wire/xgress';
import { ctrlMessages, type CtrlBody, type CtrlMessageName } from '#wire/ctrl';
import { NO_METRICS, type Metrics } from '../metrics/metrics.ts';
import { MemoryControllers, type MemoryController } from '../testing/memory-controller.ts';
import { CircuitFaults } from './circuit-faults.ts';
import { inspectCircuits } from './circuit-inspection.ts';
import type { CircuitEnd, LinkDestination } from './destination.ts';
import { Forwarder } from './forwarder.ts';
import { IdleScan } from './idle-scan.ts';
import { MemoryMesh } from './testing/memory-mesh.ts';

class RecordedEnd implements CircuitEnd {
  kind: CircuitEnd['kind'] = 'xgress';
  readonly isWritable = true;
  readonly controls: ControlFrame[] = [];
  delivered = 0;
  isUnrouted = false;
  hasLastPayload = false;
  wakings = 0;

  deliver(): void {
    this.delivered += 1;
  }
  onWritable(): void {
    this.wakings += 1;
  }
  onControl(control: ControlFrame): void {
    this.controls.push(control);
  }
  inspect(): object {
    return { originator: 'Terminator' };
  }
  unrouted(): void {
    this.isUnrouted = true;
  }
}

interface RecordedLink extends LinkDestination {
  isWritable: boolean;
  readonly delivered: unknown[];
  readonly controls: Frame[];
}

function makeLink(id: string): RecordedLink {
  const delivered: unknown[] = [];
  const controls: Frame[] = [];
  return {
    id,
    isWritable: true,
    delivered,
    controls,
    deliver: (frame) => void delivered.push(frame),
    sendControl: (frame) => void controls.push(frame),
  };
}

interface World {
  readonly controllers: MemoryControllers;
  readonly faults: CircuitFaults;
  readonly forwarder: Forwarder;
  readonly clock: ManualClock;
  readonly link: RecordedLink;
  readonly end: RecordedEnd;
}

/** A circuit `c1` of controller `one` between the end `out` and the link `l1`. */
function makeWorld(
  t: TestContext,
  faultTxIntervalMs = 15_000,
  closeCheckIntervalMs = 5_000,
  metrics: Metrics = NO_METRICS,
): World {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] });
  t.after(() => mock.timers.reset());
  const controllers = new MemoryControllers();
  const clock = new ManualClock();
  const faults = new CircuitFaults({ controllers, faultTxIntervalMs, metrics: NO_METRICS, log: silentLog });
  const forwarder = new Forwarder({ routerId: 'r1', faults, closeCheckIntervalMs, metrics, clock });
  const link = makeLink('l1');
  const end = new RecordedEnd();
  forwarder.registerLink(link);
  forwarder.register('c1', 'out', end, 'one');
  forwarder.route('c1', 'one', [
    { source: 'out', destination: 'l1', type: 'link' },
    { source: 'l1', destination: 'out', type: 'end' },
  ]);
  return { controllers, faults, forwarder, clock, link, end };
}

function payload(circuitId: string, flags = 0): PayloadFrame {
  return new PayloadFrame(circuitId, 5, flags, Buffer.from('x'));
}

function advance(world: World, ms: number): void {
  world.clock.advance(ms);
  mock.timers.tick(ms);
}

/** Received messages of this kind, oldest first. Mocked timers do not advance, so this cannot wait by a timer. */
async function received<Name extends CtrlMessageName>(
  controller: MemoryController,
  name: Name,
): Promise<CtrlBody<Name>[]> {
  await frames();
  const codec = ctrlMessages[name];
  return controller.frames
    .filter((frame) => frame.contentType === codec.contentType)
    .map((frame) => codec.decode(frame.body) as CtrlBody<Name>);
}

/** Frames travel to a memory controller in microtasks. */
async function frames(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
}

test('frames that cannot be moved on are reported every faultTxInterval to the circuit’s controller, unknown ones to all', async (t) => {
  const world = makeWorld(t, 4_000);
  const one = world.controllers.connect('one');
  const two = world.controllers.connect('two');
  world.forwarder.unregisterLink(world.link);
  world.forwarder.forward('c1', 'out', payload('c1'));
  world.forwarder.forward('c1', 'out', payload('c1'));
  world.forwarder.forward('strange', 'l1', payload('strange'));
  world.forwarder.forward('other', 'l1', payload('other'));
  advance(world, 3_999);
  await frames();
  assert.equal(one.frames.length, 0);
  advance(world, 1);
  assert.deepEqual(
    [...(await received(one, 'fault')), ...(await received(two, 'fault'))].map(({ subject, id }) => [
      subject,
      id,
    ]),
    [
      [3, 'c1'],
      [4, 'strange other'],
      [4, 'strange other'],
    ],
  );
});

test('faultTxInterval 0 reports no such frames', async (t) => {
  const world = makeWorld(t, 0);
  const one = world.controllers.connect('one');
  world.forwarder.forward('strange', 'l1', payload('strange'));
  advance(world, 3_600_000);
  await frames();
  assert.equal(one.frames.length, 0);
});

test('that an end closed is reported to its controller, later if it was away', async (t) => {
  const world = makeWorld(t);
  world.faults.onCircuitClosed('c1', 'one', true);
  world.controllers.connect('two');
  const one = world.controllers.connect('one');
  const faults = await received(one, 'fault');
  assert.deepEqual(
    faults.map(({ subject, id }) => [subject, id]),
    [[1, 'c1']],
  );
});

test('an Unroute that may wait drops a circuit once no payload came for xgressCloseCheckInterval', (t) => {
  const world = makeWorld(t, 0, 2_000);
  world.forwarder.unrouteWhenQuiet('c1');
  for (let round = 0; round < 5; round += 1) {
    advance(world, 1_500);
    world.forwarder.forward('c1', 'l1', payload('c1'));
  }
  assert.deepEqual([world.end.isUnrouted, world.end.delivered], [false, 5]);
  advance(world, 2_000);
  advance(world, 2_000);
  assert.deepEqual([world.end.isUnrouted, world.forwarder.circuitCount], [true, 0]);
});

test('an Unroute that may not wait drops it at once, as does one for a circuit whose ends are both here', (t) => {
  const world = makeWorld(t);
  world.forwarder.unroute('c1');
  assert.equal(world.end.isUnrouted, true);
  const [a, b] = [new RecordedEnd(), new RecordedEnd()];
  world.forwarder.register('c2', 'a', a, 'one');
  world.forwarder.register('c2', 'b', b, 'one');
  world.forwarder.route('c2', 'one', [
    { source: 'a', destination: 'b', type: 'end' },
    { source: 'b', destination: 'a', type: 'start' },
  ]);
  world.forwarder.unrouteWhenQuiet('c2');
  assert.deepEqual([a.isUnrouted, b.isUnrouted, world.forwarder.circuitCount], [true, true, 0]);
});

test('an Unroute that may wait drops a circuit at once that never began at the end that was dialed here', (t) => {
  const world = makeWorld(t);
  world.forwarder.circuit('c1')!.egressData = new Map();
  world.forwarder.forward('c1', 'l1', payload('c1'));
  world.forwarder.unrouteWhenQuiet('c1');
  assert.equal(world.end.isUnrouted, false);
  const late = new RecordedEnd();
  world.forwarder.register('c2', 'late', late, 'one');
  world.forwarder.route('c2', 'one', [{ source: 'l1', destination: 'late', type: 'end' }]);
  world.forwarder.circuit('c2')!.egressData = new Map();
  world.forwarder.unrouteWhenQuiet('c2');
  assert.equal(late.isUnrouted, true);
});

test('an end whose SDK still reads the last payloads is not notified that the far end closed, until time is up', (t) => {
  const world = makeWorld(t);
  const ends = new Map(['c2', 'c3'].map((id) => [id, new RecordedEnd()]));
  for (const [id, end] of ends) {
    world.forwarder.register(id, `${id}-sdk`, end, 'one');
    world.forwarder.register(id, `${id}-far`, new RecordedEnd(), 'one');
    world.forwarder.route(id, 'one', [
      { source: `${id}-sdk`, destination: `${id}-far`, type: 'end' },
      { source: `${id}-far`, destination: `${id}-sdk`, type: 'start' },
    ]);
  }
  ends.get('c2')!.hasLastPayload = true;
  const unrouted = (): boolean[] => [...ends.values()].map(({ isUnrouted }) => isUnrouted);
  for (const id of ends.keys()) world.forwarder.unregister(id, `${id}-far`);
  assert.deepEqual(unrouted(), [false, true]);
  // The controller's Unroute that follows changes nothing for it.
  world.forwarder.unrouteWhenQuiet('c2');
  for (let elapsedMs = 0; elapsedMs < 25_000; elapsedMs += 5_000) advance(world, 5_000);
  assert.deepEqual(unrouted(), [false, true]);
  advance(world, 5_000);
  assert.deepEqual([...unrouted(), world.forwarder.circuitCount], [true, true, 1]);
});

test('every idleTxInterval, circuits idle longer than idleCircuitTimeout are confirmed with their controller', async (t) => {
  const world = makeWorld(t);
  const one = world.controllers.connect('one');
  const scan = new IdleScan({
    ...world,
    idleTxIntervalMs: 10_000,
    idleCircuitTimeoutMs: 25_000,
    log: silentLog,
  });
  t.after(() => scan.close());
  world.forwarder.register('c2', 'out2', new RecordedEnd(), 'one');
  world.forwarder.route('c2', 'one', [{ source: 'out2', destination: 'l1', type: 'link' }]);
  advance(world, 10_000);
  world.forwarder.forward('c2', 'out2', payload('c2'));
  // Frames that cannot be delivered do not count as activity.
  world.forwarder.forward('c1', 'out', payload('c1', PAYLOAD_FLAGS.retransmit));
  advance(world, 10_000);
  await frames();
  assert.equal(one.frames.length, 0);
  advance(world, 10_000);
  const confirmations = await received(one, 'circuitConfirmation');
  assert.deepEqual(
    confirmations.map(({ circuitIds, idleTimes }) => [circuitIds, idleTimes]),
    [[['c1'], { c1: 30_000_000_000n }]],
  );
});

test('circuits whose controller is away stay, however idle', async (t) => {
  const world = makeWorld(t);
  const two = world.controllers.connect('two');
  const scan = new IdleScan({
    ...world,
    idleTxIntervalMs: 60_000,
    idleCircuitTimeoutMs: 60_000,
    log: silentLog,
  });
  t.after(() => scan.close());
  for (let minute = 0; minute < 60; minute += 1) advance(world, 60_000);
  await frames();
  assert.deepEqual([world.forwarder.circuitCount, two.frames.length], [1, 0]);
});

test('idleTxInterval 0 scans nothing, and logs that', async (t) => {
  const world = makeWorld(t);
  const one = world.controllers.connect('one');
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (_fields, message) => void warnings.push(message) };
  const scan = new IdleScan({ ...world, idleTxIntervalMs: 0, idleCircuitTimeoutMs: 1_000, log });
  t.after(() => scan.close());
  advance(world, 3_600_000);
  await frames();
  assert.equal(one.frames.length, 0);
  assert.match(warnings.join(), /idleTxInterval/);
});

test('an end that waits for its link continues when the link has room, comes back, or is replaced', (t) => {
  const world = makeWorld(t);
  world.link.isWritable = false;
  assert.equal(world.forwarder.isWritable('c1', 'out'), false);
  world.forwarder.linkDrained('l1');
  assert.equal(world.end.wakings, 0);
  world.link.isWritable = true;
  world.forwarder.linkDrained('l1');
  assert.equal(world.end.wakings, 1);

  world.link.isWritable = false;
  world.forwarder.isWritable('c1', 'out');
  world.forwarder.unregisterLink(world.link);
  world.forwarder.registerLink(makeLink('l1'));
  assert.equal(world.end.wakings, 2);

  world.forwarder.registerLink(world.link);
  world.forwarder.isWritable('c1', 'out');
  world.forwarder.registerLink(makeLink('l2'));
  world.forwarder.route('c1', 'one', [{ source: 'out', destination: 'l2', type: 'link' }]);
  assert.equal(world.end.wakings, 3);
});

test('a link of an id that another has taken over cannot unregister it', (t) => {
  const world = makeWorld(t);
  const newer = makeLink('l1');
  world.forwarder.registerLink(newer);
  world.forwarder.unregisterLink(world.link);
  world.forwarder.forward('c1', 'out', payload('c1'));
  assert.equal(newer.delivered.length, 1);
});

test('bytes over links are counted, and charged to their circuit', (t) => {
  const counts = new Map<string, number>();
  const add = (name: string, by: number): void => void counts.set(name, (counts.get(name) ?? 0) + by);
  const metrics: Metrics = {
    ...NO_METRICS,
    meter: (name) => ({ mark: (count) => add(name, count) }),
    usage: (circuitId, kind, bytes) => add(`${circuitId} ${kind}`, bytes),
  };
  const world = makeWorld(t, 0, 0, metrics);
  world.forwarder.forward('c1', 'out', payload('c1'));
  world.forwarder.forward('c1', 'l1', payload('c1'));
  world.forwarder.forward('c1', 'l1', payload('c1'));
  advance(world, 1_000);
  assert.deepEqual(Object.fromEntries(counts), {
    'fabric.rx.bytesrate': 2,
    'fabric.rx.msgrate': 2,
    'fabric.tx.bytesrate': 1,
    'fabric.tx.msgrate': 1,
    'c1 fabric.rx': 2,
    'c1 fabric.tx': 1,
  });
});

test('a traceroute is answered by the hop at which its count ends, and its answer finds back', async (t) => {
  const mesh = new MemoryMesh(3);
  t.after(() => mesh.close());
  mesh.link(0, 1);
  mesh.link(1, 2);
  await mesh.open('c1', [0, 1, 2]);
  const answers: ControlFrame[] = [];
  const { forwarder } = mesh.routers[0]!;
  const asker = new RecordedEnd();
  forwarder.register('c1', 'c1-in', asker, 'ctrl');
  for (const hops of [1, 2, 3, 4]) {
    forwarder.control('c1-in', traceRequest('c1', hops, 70 + hops, 123n));
    await frames();
    await frames();
    answers.push(...asker.controls.splice(0));
  }
  assert.deepEqual(
    answers.map(({ frame }) => [
      frame.headers.u32(headerId.xgressControl.userValue),
      frame.headers.text(headerId.xgressControl.hopType),
      frame.headers.text(headerId.xgressControl.hopId),
    ]),
    [
      [71, 'forwarder', 'r0'],
      [72, 'forwarder', 'r1'],
      [73, 'forwarder', 'r2'],
      [74, 'xgress/memory', ''],
    ],
  );
  assert.ok(
    answers.every(
      ({ isResponse, frame }) => isResponse && frame.headers.u64(headerId.xgressControl.timestamp) === 123n,
    ),
  );
});

test('a traceroute that leads nowhere is answered with why, without the headers of its channel', (t) => {
  const world = makeWorld(t);
  const trace = traceRequest('unknown', 3, 9, 1n);
  const headers = new HeaderWriter().u64(5, 1n).u64(6, 2n).u32(1, 4).copy(trace.headers);
  world.forwarder.control('l1', makeFrame(trace.contentType, { headers, body: trace.body }));
  const [answer] = world.link.controls;
  assert.equal(decodeControl(answer!)?.circuitId, 'unknown');
  assert.match(answer!.headers.text(headerId.xgressControl.error) ?? '', /nowhere/);
  for (const key of [1, 5, 6]) assert.equal(answer!.headers.has(key), false);
});

test('answers an inspection with its circuits, by OpenZiti’s names', (t) => {
  const world = makeWorld(t);
  const nowMs = world.clock.nowMs() + 1_500;
  assert.deepEqual(inspectCircuits(world.forwarder, 'router-circuits', nowMs), {
    circuits: {
      c1: {
        id: 'c1',
        timeSinceActivity: '1.5s',
        ctrlId: 'one',
        routes: { out: 'l1', l1: 'out' },
        destinations: { out: 'xgress', l1: 'link' },
      },
    },
  });
  const detail = inspectCircuits(world.forwarder, 'circuit:c1', nowMs) as Record<string, unknown>;
  assert.deepEqual(detail['forwards'], { out: 'l1', l1: 'out' });
  assert.deepEqual(detail['xgressDetails'], { out: { address: 'out', originator: 'Terminator' } });
  assert.deepEqual(inspectCircuits(world.forwarder, 'circuitandstacks:c1', nowMs), detail);
  assert.equal(inspectCircuits(world.forwarder, 'circuit:c9', nowMs), undefined);
  assert.equal(inspectCircuits(world.forwarder, 'links', nowMs), undefined);
});

test('lists circuits that end at an SDK, and answers also without any: a controller of OpenZiti relies on it', (t) => {
  const world = makeWorld(t);
  const ask = (name: string): unknown => inspectCircuits(world.forwarder, name, world.clock.nowMs());
  assert.deepEqual(ask('router-edge-circuits'), { circuits: {} });
  world.end.kind = 'xg-edge-fwd';
  assert.deepEqual(ask('router-edge-circuits'), {
    circuits: { 'c1/out': { circuitId: 'c1', address: 'out', originator: 'Terminator' } },
  });
});

test('an end that throws removes its circuit alone', (t) => {
  const { forwarder, link } = makeWorld(t);
  const [broken, good] = [new RecordedEnd(), new RecordedEnd()];
  broken.deliver = broken.unrouted = () => {
    throw new TypeError('boom');
  };
  for (const [circuitId, end] of [
    ['c2', broken],
    ['c3', good],
  ] as const) {
    forwarder.register(circuitId, `out ${circuitId}`, end, 'one');
    forwarder.route(circuitId, 'one', [{ source: 'l1', destination: `out ${circuitId}`, type: 'end' }]);
    forwarder.forward(circuitId, link.id, payload(circuitId));
  }
  assert.equal(forwarder.circuit('c2'), undefined);
  assert.equal(good.delivered, 1);
  assert.equal(good.isUnrouted, false);
});
