import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { FrontdoorError, ManualClock } from '#base';
import { MAX_TRAFFIC_SAMPLES, type TrafficReport, type TrafficSample } from '#domain/gateway-shapes';
import { logInto, type LogEntry } from '../testing/gateway-world.ts';
import { within } from '../../../test/support/deadline.ts';
import { startTrafficReporter, type TrafficReporter } from './traffic-reporter.ts';

const STEP_MS = 5_000;
const START_MS = Date.UTC(2026, 2, 14, 15, 9, 20);

let clock: ManualClock;
let records: LogEntry[];
let counted: { requests: number; shares: number };
/** Reports as they were sent, acknowledged or not. */
let sent: string[];
let answer: () => Promise<void>;
let onSent: () => void;
let reporter: TrafficReporter;

const meter = {
  take: (startsAt: number): TrafficSample[] => {
    const { requests, shares } = counted;
    counted = { requests: 0, shares: 1 };
    if (requests === 0) return [];
    return Array.from({ length: shares }, (_, i) => ({
      startsAt,
      shareId: `share-${i}`,
      environmentId: 'environment',
      frontdoorId: 'frontdoor',
      requests,
      errors: 0,
      byClass: [requests, 0, 0, 0],
      bytesIn: 0,
      bytesOut: 0,
      latency: [10, requests],
    }));
  },
};

beforeEach(() => {
  clock = new ManualClock(START_MS);
  records = [];
  counted = { requests: 0, shares: 1 };
  sent = [];
  answer = () => Promise.resolve();
  onSent = () => {};
  reporter = startTrafficReporter({
    meter,
    clock,
    log: logInto(records),
    backOff: { minMs: 1, maxMs: 1, factor: 1 },
    send: async (report) => {
      sent.push(JSON.stringify(report));
      onSent();
      await answer();
    },
  });
});
afterEach(() => reporter.close(1_000));

const reports = (): TrafficReport[] => sent.map((text) => JSON.parse(text) as TrafficReport);
const away = (): Promise<void> =>
  Promise.reject(new FrontdoorError('unavailable', 'unreachable', 'it is away'));

test('counts are sent in numbered batches of one source, and nothing without counts', async () => {
  await reporter.report(STEP_MS);
  assert.deepEqual(sent, []);
  counted.requests = 1;
  await reporter.report(STEP_MS);
  clock.advance(10_000);
  counted.requests = 2;
  await reporter.report(STEP_MS);
  const [first, second] = reports();
  assert.match(first!.source, /^[\w-]{16}$/);
  assert.equal(second!.source, first!.source);
  assert.deepEqual([first!.batch, second!.batch], [1, 2]);
  assert.deepEqual(
    reports().map(({ samples }) => [samples[0]!.startsAt - START_MS, samples[0]!.requests]),
    [
      [0, 1],
      [0, 2],
    ],
  );
});

test('traffic belongs to the span in which the last five seconds began, however long the machine slept', async () => {
  const spans: number[] = [];
  for (const advanceMs of [5_000, 5_000, 5_000, 2_000, 3_600_000]) {
    clock.advance(advanceMs);
    counted.requests = 1;
    await reporter.report(STEP_MS);
    spans.push((reports().at(-1)!.samples[0]!.startsAt - START_MS) / 1_000);
  }
  assert.deepEqual(spans, [0, 0, 10, 10, 3_610]);
});

test('more samples than a batch holds go in several', async () => {
  counted = { requests: 1, shares: 2 * MAX_TRAFFIC_SAMPLES + 1 };
  await reporter.report(STEP_MS);
  assert.deepEqual(
    reports().map(({ batch, samples }) => [batch, samples.length]),
    [
      [1, MAX_TRAFFIC_SAMPLES],
      [2, MAX_TRAFFIC_SAMPLES],
      [3, 1],
    ],
  );
});

test('a batch without an acknowledgement is sent again unchanged, and what came in the meantime follows it', async () => {
  answer = away;
  counted.requests = 1;
  await reporter.report(STEP_MS);
  for (let i = 0; i < 3; i += 1) {
    counted.requests = 10;
    await reporter.report(STEP_MS);
  }
  assert.ok(sent.length >= 4);
  assert.equal(new Set(sent).size, 1, 'always the same');
  answer = () => Promise.resolve();
  const before = sent.length;
  await reporter.report(STEP_MS);
  assert.deepEqual(sent[before], sent[0]);
  const last = reports().at(-1)!;
  assert.deepEqual([last.batch, last.samples[0]!.requests], [2, 30]);
  assert.equal(records.filter(({ level }) => level === 'warn').length, 1, 'one line an outage');
});

test('after a failure it is sent again by itself', async () => {
  const again = Promise.withResolvers<void>();
  answer = away;
  onSent = () => {
    if (sent.length !== 2) return;
    answer = () => Promise.resolve();
    again.resolve();
  };
  counted.requests = 1;
  await reporter.report(STEP_MS);
  await within('the batch again', again.promise);
  assert.equal(sent[1], sent[0]);
});

test('a batch that is refused for good does not stand in the way of the next', async () => {
  answer = () => Promise.reject(new FrontdoorError('invalid', 'COULD_NOT_VALIDATE', 'not understood'));
  counted.requests = 1;
  await reporter.report(STEP_MS);
  answer = () => Promise.resolve();
  counted.requests = 2;
  await reporter.report(STEP_MS);
  assert.deepEqual(
    reports().map(({ batch }) => batch),
    [1, 2],
  );
  assert.equal(records.filter(({ level }) => level === 'error').length, 1);
});

test('closing sends the last counts, waits no longer than its limit, and logs what was not reported', async () => {
  counted.requests = 1;
  await reporter.close(1_000);
  assert.equal(sent.length, 1);
  assert.equal(records.length, 0);

  const silent = startTrafficReporter({
    meter,
    clock,
    log: logInto(records),
    send: () => new Promise(() => {}),
  });
  counted.requests = 7;
  await within('its end', silent.close(1));
  const [record] = records;
  assert.deepEqual([record?.level, record?.['requests']], ['warn', 7]);
});
