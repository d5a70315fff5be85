// The options of the router's own ends of circuits, observed at the link and at the local connections.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { PAYLOAD_FLAGS, PAYLOAD_TYPE, type PayloadFrame } from '#wire/xgress';
import { until, within } from '../../../test/support/deadline.ts';
import type { XgressConfig } from '../config/router-config.ts';
import { MemoryMesh, type MeshOptions } from '../forwarder/testing/memory-mesh.ts';
import { NO_METRICS, type Metrics } from '../metrics/metrics.ts';

const PATIENT = { retxStartMs: 600_000, retxMaxMs: 0 };

interface World {
  readonly mesh: MemoryMesh;
  readonly client: Duplex;
  readonly service: Duplex;
  /** Payloads that entered the link in both directions. */
  readonly payloads: PayloadFrame[];
  stop(): void;
  cut(): void;
}

async function openWorld(
  t: TestContext,
  xgress: Partial<XgressConfig> = {},
  more: MeshOptions = {},
): Promise<World> {
  const mesh = new MemoryMesh(2, { xgress, ...more });
  t.after(() => mesh.close());
  const payloads: PayloadFrame[] = [];
  const link = mesh.link(0, 1, {
    capacity: 10_000,
    onData: (frame) => {
      if (frame.contentType === PAYLOAD_TYPE) payloads.push(frame);
    },
  });
  const { client, service } = await mesh.open('c1', [0, 1]);
  return { mesh, client, service, payloads, stop: () => link.stop(), cut: () => link.cut() };
}

function turns(count: number): Promise<void> {
  return count === 0
    ? Promise.resolve()
    : new Promise<void>((resolve) => void setImmediate(resolve)).then(() => turns(count - 1));
}

function received(stream: Duplex): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => void chunks.push(chunk));
  stream.on('end', () => resolve(Buffer.concat(chunks)));
  stream.on('close', () => reject(new Error('closed without an end')));
  return within('the end', promise);
}

/** Without retransmissions, which occur when the machine is paused for a moment. */
function firstSendings(payloads: readonly PayloadFrame[]): PayloadFrame[] {
  return payloads.filter(({ flags }) => (flags & PAYLOAD_FLAGS.retransmit) === 0);
}

/** Data payloads from the initiator. */
function dataOf(payloads: readonly PayloadFrame[]): number[] {
  return firstSendings(payloads)
    .filter(({ flags, data }) => (flags & PAYLOAD_FLAGS.originator) === 0 && data.length > 0)
    .map(({ data }) => data.length);
}

test('mtu bounds a payload’s data; without it a payload fills one TLS record at most', async (t) => {
  const small = await openWorld(t, { mtu: 700 });
  const all = randomBytes(5_000);
  const got = received(small.service);
  small.client.end(all);
  assert.ok(all.equals(await got));
  assert.equal(Math.max(...dataOf(small.payloads)), 700);
  assert.ok(small.payloads.every(({ flags }) => (flags & PAYLOAD_FLAGS.chunk) === 0));

  const large = await openWorld(t);
  const gotLarge = received(large.service);
  large.client.end(randomBytes(200_000));
  assert.equal((await gotLarge).length, 200_000);
  const most = Math.max(...dataOf(large.payloads));
  assert.ok(most > 16_000 && most < 16_384, String(most));
});

test('randomDrops loses one payload in drop1InN on arrival, which is made good', async (t) => {
  let dice = 0;
  const random = (): number => ((dice += 1) % 4) / 4;
  for (const [drop1InN, isLossy] of [
    [4, true],
    [1_000_000, false],
  ] as const) {
    const { mesh, client, service } = await openWorld(
      t,
      // Only lost data is retransmitted, however long the machine is paused.
      { randomDrops: true, drop1InN, mtu: 1_000, ...(isLossy ? {} : PATIENT) },
      { random: () => random() + 0.001 },
    );
    const all = randomBytes(20_000);
    const got = received(service);
    client.end(all);
    assert.ok(all.equals(await got));
    const dropped = mesh.routers[1]!.ends.counters.droppedPayloads;
    assert.equal(dropped > 0, isLossy, `${dropped} dropped`);
    assert.equal(mesh.routers[0]!.ends.counters.retransmissions > 0, isLossy);
  }
});

test('without randomDrops nothing is dropped, for any drop1InN', async (t) => {
  const { mesh, client, service } = await openWorld(t, { drop1InN: 1 });
  const got = received(service);
  client.end('all of it');
  assert.equal(String(await got), 'all of it');
  assert.equal(mesh.routers[1]!.ends.counters.droppedPayloads, 0);
});

test('txQueueSize payloads wait for a local connection that takes nothing; the rest stays in the receive buffer', async (t) => {
  const taken: number[] = [];
  for (const txQueueSize of [1, 5]) {
    const { mesh, client } = await openWorld(t, { txQueueSize, mtu: 10_000 });
    client.write(randomBytes(300_000));
    await turns(30);
    const detail = mesh.routers[1]!.forwarder.end('c1-out')!.inspect() as {
      recvBufferDetail: { payloadCount: number };
    };
    taken.push(30 - detail.recvBufferDetail.payloadCount);
  }
  // Bytes that the substitute of a socket accepts, like a kernel's buffer, are the same for both.
  const [one, five] = taken as [number, number];
  assert.equal(five - one, 4, taken.join());
  assert.ok(one < 15, taken.join());
});

test('maxCloseWaitMs is how long an end waits for the acknowledgement of what it sent last', async (t) => {
  const { mesh, client, stop } = await openWorld(t, { maxCloseWaitMs: 250 });
  await turns(10);
  stop();
  const startedMs = performance.now();
  client.end('never acknowledged');
  const { subject } = await mesh.routers[0]!.controller.next('fault');
  const tookMs = performance.now() - startedMs;
  assert.equal(subject, 0);
  assert.ok(tookMs >= 240 && tookMs < 15_000, `${tookMs} ms`);
  assert.equal(mesh.routers[0]!.ends.count, 0);
});

test('it also bounds how long a local connection may take for what is left, once the circuit is gone', async (t) => {
  const { mesh, client, service } = await openWorld(t, { maxCloseWaitMs: 200 });
  client.end(randomBytes(100_000));
  await until(
    'all to be acknowledged',
    () => mesh.routers[0]!.ends.counters.unackedPayloads,
    (n) => n === 0,
  );
  mesh.routers[1]!.unroute('c1', true);
  const { promise, resolve } = Promise.withResolvers<void>();
  mesh.routers[1]!.ends.ticker.watch({
    circuitId: 'c1',
    tick: () => (service.closed || service.destroyed ? (resolve(), false) : true),
    flushAcknowledgements: () => {},
    destroy: () => {},
  });
  // Reading starts after that time, so data that was not accepted by then is lost.
  await until(
    'the ticker to have given it up',
    () => mesh.routers[1]!.ends.ticker.watchedCount,
    (count) => count <= 1,
  );
  let bytes = 0;
  service.on('data', (chunk: Buffer) => (bytes += chunk.length));
  await turns(50);
  assert.ok(bytes < 100_000, `${bytes} bytes`);
  resolve();
  await promise;
});

test('circuitStartTimeout closes a terminator whose circuit nobody starts', async (t) => {
  const mesh = new MemoryMesh(2, { xgress: { circuitStartTimeoutMs: 150 } });
  t.after(() => mesh.close());
  mesh.link(0, 1);
  const startedMs = performance.now();
  await mesh.route('c1', [0, 1], 0);
  const { subject, id } = await mesh.routers[1]!.controller.next('fault');
  assert.deepEqual([subject, id], [1, 'c1']);
  assert.ok(performance.now() - startedMs >= 140);
  assert.equal(mesh.routers[1]!.ends.count, 0);
});

test('a terminator reads nothing of its service before the circuit is started', async (t) => {
  const mesh = new MemoryMesh(2);
  t.after(() => mesh.close());
  const payloads: PayloadFrame[] = [];
  mesh.link(0, 1, { onData: (frame) => void (frame.contentType === PAYLOAD_TYPE && payloads.push(frame)) });
  await mesh.route('c1', [0, 1], 0);
  const service = mesh.routers[1]!.services.get('c1')!;
  service.write('welcome');
  await turns(20);
  assert.equal(payloads.length, 0);
  const client = mesh.routers[0]!.begin('c1');
  const { promise, resolve } = Promise.withResolvers<string>();
  client.once('data', (chunk: Buffer) => resolve(String(chunk)));
  assert.equal(await within('the greeting', promise), 'welcome');
});

test('ends of one circuit: the start opens it, FIN and EOF end each way, CircuitEnd closes it', async (t) => {
  const { client, service, payloads } = await openWorld(t);
  const got = received(service);
  const answer = received(client);
  client.end('question');
  await got;
  service.end('answer');
  await answer;
  await until(
    'both ends to close',
    () => firstSendings(payloads).filter(({ flags }) => (flags & PAYLOAD_FLAGS.circuitEnd) !== 0).length,
    (n) => n === 2,
  );
  const names = firstSendings(payloads).map(({ flags, data, headers }) => {
    const side = (flags & PAYLOAD_FLAGS.originator) === 0 ? 'I' : 'T';
    if ((flags & PAYLOAD_FLAGS.circuitStart) !== 0) return `${side} start`;
    if ((flags & PAYLOAD_FLAGS.eof) !== 0) return `${side} eof`;
    if ((flags & PAYLOAD_FLAGS.circuitEnd) !== 0) return `${side} end`;
    return headers?.has(0x10) === true ? `${side} fin` : `${side} ${Buffer.from(data).toString()}`;
  });
  assert.deepEqual(names.slice(0, 7), [
    'I start',
    'I question',
    'I fin',
    'I eof',
    'T answer',
    'T fin',
    'T eof',
  ]);
  assert.deepEqual(names.slice(7).sort(), ['I end', 'T end']);
});

test('its bytes are counted by side, and charged to the circuit', async (t) => {
  const counts = new Map<string, number>();
  const add = (name: string, by: number): void => void counts.set(name, (counts.get(name) ?? 0) + by);
  const metrics: Metrics = {
    ...NO_METRICS,
    meter: (name) => ({ mark: (count) => add(name, count) }),
    usage: (circuitId, kind, bytes) => add(`${circuitId} ${kind}`, bytes),
  };
  const { client, service } = await openWorld(t, {}, { metrics });
  const got = received(service);
  const answer = received(client);
  client.end('question');
  service.end('the answer');
  await Promise.all([got, answer]);
  const figures = ['ingress.rx', 'egress.tx', 'egress.rx', 'ingress.tx'].map((name) => [
    counts.get(`${name}.bytesrate`),
    counts.get(`c1 ${name}`),
  ]);
  assert.deepEqual(figures, [
    [8, 8],
    [8, 8],
    [10, 10],
    [10, 10],
  ]);
});
