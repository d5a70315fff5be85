import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatIsoDuration, parseIsoDuration } from '#domain';
import {
  MAX_DURATION_MS,
  metricWindow,
  MIN_DURATION_MS,
  MIN_STEP_MS,
  sparklineWindow,
  type MetricWindow,
} from './metric-window-policy.ts';
import { ROLLUPS } from './rollup-table.ts';

const NOW_MS = Date.UTC(2026, 2, 14, 15, 9, 26, 535);
const msOf = (text: string): number => parseIsoDuration(text)!;

test('a step is rounded up to a multiple of the roll-up that reaches back far enough', () => {
  // Duration, step asked for, and what comes out: step, roll-up, samples.
  const rows: readonly (readonly [string, string | undefined, string, string, number])[] = [
    ['PT1H', undefined, 'PT1M', 'PT1M', 60],
    ['PT1H', 'PT1M', 'PT1M', 'PT1M', 60],
    ['PT1H', 'PT10S', 'PT10S', 'PT10S', 360],
    ['PT1H', 'PT15S', 'PT20S', 'PT10S', 180],
    ['PT1H', 'PT90S', 'PT1M30S', 'PT10S', 40],
    ['PT1H', 'PT7M', 'PT7M', 'PT1M', 9],
    ['PT1H', 'PT1H', 'PT1H', 'PT1H', 1],
    ['PT5M', undefined, 'PT10S', 'PT10S', 30],
    ['PT5M', 'PT5M', 'PT5M', 'PT1M', 1],
    ['PT15M', undefined, 'PT20S', 'PT10S', 45],
    ['PT6H', 'PT10S', 'PT10S', 'PT10S', 2_160],
    ['PT7H', 'PT10S', 'PT1M', 'PT1M', 420],
    ['P1D', undefined, 'PT24M', 'PT1M', 60],
    ['P3D', 'PT10S', 'PT1M', 'PT1M', 4_320],
    ['P7D', undefined, 'PT3H', 'PT1H', 56],
    ['P7D', 'PT10S', 'PT1H', 'PT1H', 168],
    ['P30D', undefined, 'PT12H', 'PT1H', 60],
    ['P30D', 'P1D', 'P1D', 'P1D', 30],
    ['P30D', 'P30D', 'P30D', 'P1D', 1],
  ];
  for (const [duration, asked, step, rollup, count] of rows) {
    const window = metricWindow(msOf(duration), asked === undefined ? undefined : msOf(asked), NOW_MS);
    const seen = [formatIsoDuration(window.stepMs), formatIsoDuration(window.rollupMs), window.count];
    assert.deepEqual(seen, [step, rollup, count], `${duration} by ${asked}`);
  }
});

function checkWindow({ rollupMs, stepMs, startMs, count }: MetricWindow, durationMs: number): void {
  const says = `${durationMs} ms in ${count} steps of ${stepMs} ms`;
  assert.equal(stepMs % rollupMs, 0, says);
  assert.equal(startMs % stepMs, 0, says);
  const endMs = startMs + count * stepMs;
  assert.ok(endMs > NOW_MS && endMs - stepMs <= NOW_MS, `${says}: the last step is the running one`);
  assert.ok(count * stepMs >= durationMs, `${says}: all of the duration is covered`);
  assert.ok(count <= 5_000, says);
  const { keptMs } = ROLLUPS.find(({ spanMs }) => spanMs === rollupMs)!;
  assert.ok(NOW_MS - startMs <= keptMs, `${says}: the roll-up is kept for so long`);
}

test('the window covers any duration and step from a roll-up that is kept', () => {
  for (let durationMs = MIN_DURATION_MS; durationMs <= MAX_DURATION_MS; durationMs = durationMs * 1.07 + 1) {
    const duration = Math.round(durationMs);
    checkWindow(metricWindow(duration, undefined, NOW_MS), duration);
    checkWindow(sparklineWindow(duration, NOW_MS), duration);
    for (let step = MIN_STEP_MS; step <= duration; step = Math.round(step * 1.9)) {
      const window = metricWindow(duration, step, NOW_MS);
      checkWindow(window, duration);
      assert.ok(window.stepMs >= step);
    }
  }
  checkWindow(metricWindow(MAX_DURATION_MS, MAX_DURATION_MS, NOW_MS), MAX_DURATION_MS);
});

test('sparklines have thirty steps', () => {
  for (const duration of ['PT5M', 'PT1H', 'PT6H', 'P1D', 'P3D', 'P7D', 'P30D']) {
    assert.equal(sparklineWindow(msOf(duration), NOW_MS).count, 30, duration);
  }
  assert.equal(formatIsoDuration(sparklineWindow(msOf('PT1H'), NOW_MS).stepMs), 'PT2M');
  assert.equal(formatIsoDuration(sparklineWindow(msOf('PT5M'), NOW_MS).stepMs), 'PT10S');
});
