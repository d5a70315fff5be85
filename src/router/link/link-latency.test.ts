// The cost of a link as measured by its heartbeats.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '#base';
import { NO_METRICS, type Metrics } from '../metrics/metrics.ts';
import { LinkLatency } from './link-latency.ts';

const SILENT = 8_888_888_888_888;

function makeWorld(graceMs = 0): {
  clock: ManualClock;
  latency: LinkLatency;
  values: number[];
  names: string[];
} {
  const clock = new ManualClock();
  const values: number[] = [];
  const names: string[] = [];
  const metrics: Metrics = {
    ...NO_METRICS,
    histogram: (name) => {
      names.push(name);
      return { update: (value) => void values.push(value), clear: () => void values.splice(0) };
    },
  };
  return { clock, latency: new LinkLatency(metrics, 'l1', clock, graceMs), values, names };
}

test('each answer is measured in nanoseconds, and the mean is of the last ones', () => {
  const { latency, values, names } = makeWorld();
  assert.equal(latency.meanNs, undefined);
  latency.onAnswer(1_000);
  latency.onAnswer(3_000);
  assert.equal(latency.meanNs, 2_000);
  assert.deepEqual(names, ['link.l1.latency']);
  assert.deepEqual(values, [1_000, 3_000]);
  for (let i = 0; i < 64; i += 1) latency.onAnswer(500);
  assert.equal(latency.meanNs, 500);
});

test('a link silent for more than 30 s costs more than any other, until it answers again', () => {
  const { clock, latency, values } = makeWorld();
  latency.onAnswer(1_000);
  clock.advance(30_000);
  clock.jump(7_200_000);
  assert.equal(latency.check(), false, 'setting the clock does not count');
  clock.advance(1);
  assert.equal(latency.check(), true);
  assert.deepEqual(values, [SILENT], 'nothing from before softens it');
  assert.equal(latency.check(), false, 'said once');
  assert.equal(latency.meanNs, SILENT);
  latency.onAnswer(2_000);
  assert.deepEqual(values, [2_000]);
});

test('a new link has its grace before silence counts', () => {
  const { clock, latency } = makeWorld(120_000);
  clock.advance(150_000);
  assert.equal(latency.check(), false);
  clock.advance(1);
  assert.equal(latency.check(), true);
});
