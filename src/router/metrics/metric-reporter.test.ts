import assert from 'node:assert/strict';
import { mock, test, type TestContext } from 'node:test';
import { bytesOfHex, silentLog, systemClock, type Log } from '#base';
import { openMemoryChannel, type Channel } from '#net/channel';
import type { Frame } from '#wire';
import { ctrlMessages, type CtrlBody } from '#wire/ctrl';
import { loadRecordedFrames } from '../../../test/support/recorded-frames.ts';
import type { MetricsConfig } from '../config/router-config.ts';
import { METRICS_DEFAULTS } from '../config/testing/router-config-defaults.ts';
import type { Controller, Controllers } from '../ctrl/controllers.ts';
import { MetricRegistry } from './metric-registry.ts';
import { MetricReporter } from './metric-reporter.ts';

const MINUTE = 60_000;
const START_MS = 1_700_000_040_000 - (1_700_000_040_000 % MINUTE);

/** Frames between the two ends of a memory channel are delivered in a later turn of the event loop. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

class ControllersInTest implements Controllers {
  readonly connected: Controller[] = [];
  readonly received = new Map<string, Frame[]>();
  readonly #listeners: ((controller: Controller) => void)[] = [];

  connect(id: string): Channel {
    const [own, theirs] = openMemoryChannel(
      { id, peer: peerOf(id), log: silentLog },
      { id: 'r1', peer: peerOf('r1'), log: silentLog },
    );
    const frames: Frame[] = [];
    this.received.set(id, frames);
    own.handle({ onFrame: () => {} });
    theirs.handle({ onFrame: (frame) => void frames.push(frame) });
    const controller = { id, version: 'v1.7.2', channel: own, isResponsive: true, suspect: () => {} };
    this.connected.push(controller);
    for (const listener of this.#listeners) listener(controller);
    return own;
  }

  disconnect(id: string): void {
    const at = this.connected.findIndex((controller) => controller.id === id);
    this.connected.splice(at, 1)[0]!.channel.close('test');
  }

  messagesOf(id: string): CtrlBody<'metrics'>[] {
    return this.received.get(id)!.map(({ body }) => ctrlMessages.metrics.decode(body));
  }

  all = (): readonly Controller[] => this.connected;
  best = (): Controller | undefined => this.connected[0];
  byId = (id: string): Controller | undefined => this.connected.find((one) => one.id === id);
  broadcast = (): number => 0;
  onConnected = (listener: (controller: Controller) => void): void => void this.#listeners.push(listener);
  onDisconnected = (): void => {};
}

function peerOf(id: string) {
  return { id, hello: undefined as never, fingerprint: '', address: 'memory' };
}

function open(t: TestContext, config: Partial<MetricsConfig> = {}, log: Log = silentLog) {
  mock.timers.enable({ apis: ['setInterval', 'Date'], now: START_MS });
  const whole = { ...METRICS_DEFAULTS, ...config };
  const registry = new MetricRegistry({ ...whole, clock: systemClock, log });
  const controllers = new ControllersInTest();
  const reporter = new MetricReporter({
    routerId: 'r1',
    config: whole,
    registry,
    controllers,
    clock: systemClock,
    log,
  });
  t.after(() => {
    reporter.close();
    registry.close();
    for (const { channel } of controllers.connected) channel.close('test over');
    mock.timers.reset();
  });
  return { registry, controllers, reporter };
}

test('reportInterval: one message to every controller each time it is over', async (t) => {
  const { controllers } = open(t, { reportIntervalMs: 10_000 });
  controllers.connect('c1');
  mock.timers.tick(9_999);
  await turn();
  assert.equal(controllers.messagesOf('c1').length, 0);
  mock.timers.tick(1);
  await turn();
  assert.equal(controllers.messagesOf('c1').length, 1);
  mock.timers.tick(30_000);
  await turn();
  assert.equal(controllers.messagesOf('c1').length, 4);
});

test('every controller gets the message, and all but the first get it with a mark not to propagate it', async (t) => {
  const { controllers } = open(t);
  for (const id of ['c1', 'c2', 'c3']) controllers.connect(id);
  mock.timers.tick(MINUTE);
  await turn();
  const messages = ['c1', 'c2', 'c3'].map((id) => controllers.messagesOf(id)[0]!);
  assert.deepEqual(
    messages.map(({ doNotPropagate }) => doNotPropagate),
    [false, true, true],
  );
  assert.equal(new Set(messages.map(({ eventId }) => eventId)).size, 1);
});

test('a controller whose channel is closed is no first', async (t) => {
  const { controllers } = open(t);
  controllers.connect('c1').close('gone');
  controllers.connect('c2');
  mock.timers.tick(MINUTE);
  await turn();
  assert.equal(controllers.messagesOf('c2')[0]!.doNotPropagate, false);
});

test('messageQueueSize: so many messages wait while no controller is there, the oldest goes, and all leave in order', async (t) => {
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (_fields, message) => void warnings.push(message) };
  const { controllers, reporter, registry } = open(t, { messageQueueSize: 3 }, log);
  let report = 0;
  registry.gauge('report', () => (report += 1));
  for (let i = 0; i < 5; i += 1) mock.timers.tick(MINUTE);
  assert.equal(reporter.waitingCount, 3);
  assert.equal(warnings.length, 1);
  controllers.connect('c1');
  await turn();
  const sent = (): (bigint | undefined)[] =>
    controllers.messagesOf('c1').map(({ intValues }) => intValues['report']);
  assert.deepEqual(sent(), [3n, 4n, 5n]);
  assert.equal(reporter.waitingCount, 0);
  mock.timers.tick(MINUTE);
  await turn();
  assert.deepEqual(sent(), [3n, 4n, 5n, 6n]);
});

test('usage that waits for a controller is reported once, with the message of its time', async (t) => {
  const { controllers, registry } = open(t);
  registry.usage('circuit1', 'ingress.rx', 1_234);
  registry.usage('circuit1', 'fabric.tx', 5);
  for (let i = 0; i < 3; i += 1) mock.timers.tick(MINUTE);
  controllers.connect('c1');
  await turn();
  const messages = controllers.messagesOf('c1');
  assert.deepEqual(
    messages.map(({ usageCounters }) => usageCounters.length),
    // Younger than intervalAgeThreshold, then older, then removed.
    [0, 2, 0],
  );
  const [usage, fabricUsage] = messages[1]!.usageCounters;
  assert.deepEqual(
    [usage?.intervalStartUTC, usage?.intervalLength, usage?.buckets['circuit1']?.values],
    [BigInt(START_MS / 1_000), 60n, { 'ingress.rx': 1_234n }],
  );
  assert.deepEqual(fabricUsage?.buckets['circuit1']?.values, { 'fabric.tx': 5n });
});

test('intervalAgeThreshold: usage that nothing follows is in the first message after it', async (t) => {
  const { controllers, registry } = open(t, { intervalAgeThresholdMs: 50_000 });
  controllers.connect('c1');
  registry.usage('circuit1', 'egress.rx', 1);
  mock.timers.tick(MINUTE);
  await turn();
  assert.equal(controllers.messagesOf('c1')[0]!.usageCounters.length, 1);
});

test('a message has what a recorded one of a real router has', async (t) => {
  const { controllers, registry } = open(t);
  controllers.connect('c1');
  registry.gauge('pool.link.dialer.queue_size', () => 0);
  registry.gauge('load', () => 0.25);
  registry.meter('fabric.rx.msgrate').mark(300);
  registry.histogram('link.l1.latency').update(1_500_000);
  registry.timer('xgress.tx_write_time').update(2_000);
  mock.timers.tick(MINUTE);
  await turn();
  const [message] = controllers.messagesOf('c1');
  assert.ok(message);
  const recorded = recordedMetrics();
  for (const real of recorded) {
    assert.match(real.eventId, /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    assert.equal(message.eventId.length, real.eventId.length);
    assert.ok(real.timestamp!.seconds > 1_600_000_000n && real.timestamp!.nanos < 1_000_000_000);
    assert.ok(Object.keys(real.intValues).some((name) => name.startsWith('pool.')));
  }
  assert.equal(recorded.length, 2);
  assert.equal(message.sourceId, 'r1');
  assert.deepEqual(
    [message.timestamp?.seconds, message.timestamp?.nanos],
    [BigInt((START_MS + MINUTE) / 1_000), 0],
  );
  assert.deepEqual(
    [message.intValues, message.floatValues],
    [{ 'pool.link.dialer.queue_size': 0n }, { load: 0.25 }],
  );
  assert.equal(message.meters['fabric.rx.msgrate']?.count, 300n);
  assert.equal(message.meters['fabric.rx.msgrate']?.meanRate, 5);
  const latency = message.histograms['link.l1.latency'];
  assert.deepEqual(
    [latency?.count, latency?.min, latency?.max, latency?.mean, latency?.p9999],
    [1n, 1_500_000n, 1_500_000n, 1_500_000, 1_500_000],
  );
  assert.deepEqual(
    [message.timers['xgress.tx_write_time']?.count, message.timers['xgress.tx_write_time']?.p50],
    [1n, 2_000],
  );
});

test('a controller that asks by inspection gets the metrics of the moment, and takes no usage from the next report', async (t) => {
  const { controllers, registry, reporter } = open(t, { intervalAgeThresholdMs: 1 });
  controllers.connect('c1');
  registry.gauge('edge.connections', () => 7);
  registry.usage('circuit1', 'egress.rx', 1);
  assert.equal(reporter.inspect('links'), undefined);
  const inspected = reporter.inspect('metrics') as { sourceId: string; intValues: Record<string, number> };
  assert.deepEqual([inspected.sourceId, inspected.intValues], ['r1', { 'edge.connections': 7 }]);
  mock.timers.tick(MINUTE);
  await turn();
  assert.equal(controllers.messagesOf('c1')[0]!.usageCounters.length, 1);
});

test('after close nothing is sent', async (t) => {
  const { controllers, reporter } = open(t);
  mock.timers.tick(MINUTE);
  reporter.close();
  controllers.connect('c1');
  mock.timers.tick(10 * MINUTE);
  await turn();
  assert.equal(controllers.messagesOf('c1').length, 0);
});

/** The recording keeps the first 256 bytes of these bodies. Returns the complete fields among them. */
function recordedMetrics(): CtrlBody<'metrics'>[] {
  return loadRecordedFrames()
    .filter(({ type }) => type === ctrlMessages.metrics.contentType)
    .map(({ bodyStart = '' }) => {
      const bytes = bytesOfHex(bodyStart);
      let end = 0;
      // The lengths of all top-level fields here fit in one byte after the tag.
      while (end + 2 + bytes[end + 1]! <= bytes.length) end += 2 + bytes[end + 1]!;
      return ctrlMessages.metrics.decode(bytes.subarray(0, end));
    });
}
