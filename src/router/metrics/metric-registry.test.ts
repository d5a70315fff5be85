import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrontdoorError, ManualClock, silentLog, WorkerPool } from '#base';
import { MetricRegistry } from './metric-registry.ts';

const MINUTE = 60_000;

function open(options: { reportIntervalMs?: number; intervalAgeThresholdMs?: number } = {}) {
  const clock = new ManualClock(1_700_000_040_000 - (1_700_000_040_000 % MINUTE));
  const registry = new MetricRegistry({
    reportIntervalMs: options.reportIntervalMs ?? MINUTE,
    intervalAgeThresholdMs: options.intervalAgeThresholdMs ?? 80_000,
    clock,
    log: silentLog,
  });
  return { clock, registry };
}

test('a meter counts, and its rates rise to what comes steadily and fall when nothing comes', () => {
  const { clock, registry } = open();
  const meter = registry.meter('fabric.rx.msgrate');
  assert.equal(registry.meter('fabric.rx.msgrate'), meter);
  for (let second = 0; second < 1_200; second += 1) {
    meter.mark(50);
    clock.advance(1_000);
    registry.tick();
  }
  const busy = registry.read().meters.get('fabric.rx.msgrate')!;
  assert.equal(busy.count, 60_000);
  for (const rate of [busy.m1Rate, busy.m5Rate, busy.m15Rate, busy.meanRate]) {
    assert.ok(Math.abs(rate - 50) < 0.5, String(rate));
  }
  clock.advance(MINUTE);
  const idle = registry.read().meters.get('fabric.rx.msgrate')!;
  // One minute without events leaves factors of e^-1, e^-1/5 and e^-1/15.
  assert.ok(Math.abs(idle.m1Rate - 50 * Math.exp(-1)) < 0.5, String(idle.m1Rate));
  assert.ok(Math.abs(idle.m5Rate - 50 * Math.exp(-1 / 5)) < 0.5, String(idle.m5Rate));
  assert.ok(Math.abs(idle.m15Rate - 50 * Math.exp(-1 / 15)) < 0.5, String(idle.m15Rate));
  registry.close();
});

test('a long wait between two ticks counts as that many ticks', () => {
  const { clock, registry } = open();
  const meter = registry.meter('m');
  meter.mark(500);
  clock.advance(5_000);
  registry.tick();
  assert.equal(registry.read().meters.get('m')!.m1Rate, 100);
  clock.advance(3_600_000);
  assert.ok(registry.read().meters.get('m')!.m1Rate < 1e-20);
  registry.close();
});

test('a histogram reports count, sum, bounds, spread and percentiles', () => {
  const { registry } = open();
  const histogram = registry.histogram('link.l1.latency');
  for (let value = 1; value <= 100; value += 1) histogram.update(value);
  const reading = registry.read().histograms.get('link.l1.latency')!;
  assert.deepEqual(
    [reading.count, reading.sum, reading.min, reading.max, reading.mean],
    [100, 5_050, 1, 100, 50.5],
  );
  assert.equal(reading.variance, 833.25);
  assert.equal(reading.stdDev, Math.sqrt(833.25));
  const percentiles = [reading.p50, reading.p75, reading.p95, reading.p99, reading.p999, reading.p9999];
  assert.deepEqual(
    percentiles.map((value) => value.toFixed(2)),
    ['50.50', '75.75', '95.95', '99.99', '100.00', '100.00'],
  );
  assert.equal(registry.meanOf('link.l1.latency'), 50.5);
  histogram.clear();
  histogram.update(8_888_888_888_888);
  assert.equal(registry.meanOf('link.l1.latency'), 8_888_888_888_888);
  registry.close();
});

test('a histogram holds a bounded sample in which the last minutes outweigh the hours before', () => {
  const { clock, registry } = open();
  const histogram = registry.histogram('fabric.rx.msgsize');
  for (let i = 0; i < 100_000; i += 1) histogram.update(1_000);
  // Beyond the hour after which all weights are divided.
  for (let minute = 0; minute < 70; minute += 1) {
    clock.advance(MINUTE);
    registry.tick();
    for (let i = 0; i < 200; i += 1) histogram.update(10);
  }
  const reading = registry.read().histograms.get('fabric.rx.msgsize')!;
  assert.equal(reading.count, 114_000);
  assert.equal(reading.p99, 10);
  assert.equal(reading.mean, 10);
  registry.close();
});

test('feeding metrics takes no memory', () => {
  const { registry } = open();
  const meter = registry.meter('a');
  const histogram = registry.histogram('b');
  const timer = registry.timer('c');
  const feed = (times: number): void => {
    for (let i = 0; i < times; i += 1) {
      meter.mark(i & 1_023);
      histogram.update(i & 1_023);
      timer.update(i & 1_023);
      registry.usage(i % 1_000 < 500 ? 'c1' : 'c2', 'fabric.rx', i & 1_023);
    }
  };
  feed(50_000);
  const before = process.memoryUsage();
  feed(200_000);
  const after = process.memoryUsage();
  assert.ok(after.arrayBuffers - before.arrayBuffers < 65_536);
  assert.ok(after.heapTotal - before.heapTotal < 8 * 1024 * 1024);
  registry.close();
});

test('a timer is a histogram and a meter of what it timed', () => {
  const { clock, registry } = open();
  const timer = registry.timer('xgress.tx_write_time');
  timer.update(1_000);
  timer.update(3_000);
  clock.advance(5_000);
  const reading = registry.read().timers.get('xgress.tx_write_time')!;
  assert.deepEqual([reading.count, reading.mean, reading.max, reading.m1Rate], [2, 2_000, 3_000, 0.4]);
  registry.close();
});

test('one name has one kind', () => {
  const { registry } = open();
  registry.meter('edge.connect.failures');
  assert.throws(() => registry.histogram('edge.connect.failures'), FrontdoorError);
  assert.throws(() => registry.gauge('edge.connect.failures', () => 1), FrontdoorError);
  registry.close();
});

test('a link that is gone takes its metrics along, and no other link’s', () => {
  const { registry } = open();
  registry.meter('link.l1.tx.msgrate').mark(1);
  registry.histogram('link.l1.latency').update(1);
  registry.meter('link.l10.tx.msgrate').mark(1);
  registry.dispose('link.l1.');
  const { meters, histograms } = registry.read();
  assert.deepEqual([...meters.keys(), ...histograms.keys()], ['link.l10.tx.msgrate']);
  registry.close();
});

test('a gauge that cannot be read is left out, and spoils nothing', () => {
  const { registry } = open();
  registry.gauge('broken', () => {
    throw new Error('gone');
  });
  registry.gauge('nan', () => Number.NaN);
  registry.gauge('edge.connections', () => 3);
  assert.deepEqual([...registry.read().gauges], [['edge.connections', 3]]);
  registry.close();
});

test('a pool of workers shows what waits, how many work at most and how many work now', async () => {
  const { registry } = open();
  const pool = new WorkerPool({ name: 'link.dialer', queueLength: 5, workerCount: 2, log: silentLog });
  registry.addPool(pool);
  const { promise, resolve } = Promise.withResolvers<void>();
  for (let i = 0; i < 3; i += 1) pool.offer(() => promise);
  const read = () => [...registry.read().gauges];
  assert.deepEqual(read(), [
    ['pool.link.dialer.queue_size', 1],
    ['pool.link.dialer.worker_count', 2],
    ['pool.link.dialer.busy_workers', 2],
  ]);
  resolve();
  pool.close();
  await promise;
  registry.close();
});

test('a bucket of usage begins at a whole report interval, and leaves once a later one began', () => {
  const { clock, registry } = open({ reportIntervalMs: MINUTE, intervalAgeThresholdMs: 10 * MINUTE });
  const startMs = clock.nowMs();
  let tags: Record<string, string> | undefined;
  registry.tagUsage((circuitId) => (circuitId === 'c1' ? tags : undefined));
  clock.advance(20_000);
  registry.usage('c1', 'ingress.rx', 100);
  registry.usage('c1', 'ingress.rx', 11);
  registry.usage('c1', 'egress.tx', 7);
  // The host's first data came before the circuit was routed.
  tags = { serviceId: 's1' };
  registry.usage('c2', 'ingress.tx', 5);
  registry.usage('c1', 'fabric.tx', 5);
  clock.advance(39_999);
  registry.usage('c1', 'ingress.rx', 1);
  assert.deepEqual(registry.takeUsage(), []);
  clock.advance(1);
  registry.usage('c1', 'ingress.rx', 1_000);
  tags = undefined;
  const taken = registry.takeUsage();
  assert.deepEqual(taken, [
    {
      startMs,
      lengthMs: MINUTE,
      circuits: new Map([
        [
          'c1',
          {
            bytes: new Map([
              ['ingress.rx', 112],
              ['egress.tx', 7],
            ]),
            tags: { serviceId: 's1' },
          },
        ],
        ['c2', { bytes: new Map([['ingress.tx', 5]]), tags: {} }],
      ]),
    },
  ]);
  // No data of the fabric arrived in the second minute, so that bucket is reported by its age.
  assert.deepEqual(registry.takeUsage(), []);
  registry.close();
});

test('intervalAgeThreshold: a bucket that none follows leaves when it is that old', () => {
  for (const [intervalAgeThresholdMs, waitMs] of [
    [80_000, 80_000],
    [30_000, 30_000],
  ] as const) {
    const { clock, registry } = open({ intervalAgeThresholdMs });
    registry.usage('c1', 'fabric.rx', 9);
    clock.advance(waitMs - 1);
    assert.deepEqual(registry.takeUsage(), []);
    clock.advance(1);
    assert.equal(registry.takeUsage().length, 1);
    registry.close();
  }
});

test('reportInterval: it is the length of a bucket', () => {
  const { clock, registry } = open({ reportIntervalMs: 10_000 });
  clock.advance(13_000);
  const nowMs = clock.nowMs();
  registry.usage('c1', 'fabric.rx', 9);
  clock.advance(10_000);
  registry.usage('c1', 'fabric.rx', 9);
  const [bucket] = registry.takeUsage();
  assert.deepEqual([bucket?.startMs, bucket?.lengthMs], [nowMs - 3_000, 10_000]);
  registry.close();
});
