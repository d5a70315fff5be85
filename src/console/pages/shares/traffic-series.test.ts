// Traffic as series: classes add up to all requests, and a step without requests has no latency.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  CLASSES,
  countOf,
  latenciesOf,
  mostOf,
  stepMsOf,
  timesOf,
  type ShareSample,
} from './traffic-series.ts';

function sample(timestamp: string, requests: number, byClass: readonly number[], ms: number): ShareSample {
  const [status2xx = 0, status3xx = 0, status4xx = 0, status5xx = 0] = byClass;
  const classes = { status2xx, status3xx, status4xx, status5xx };
  const latencyMs = { p50: ms, p95: ms, p99: ms };
  return { timestamp, requests, errors: status5xx, ...classes, bytesIn: 1, bytesOut: 2, latencyMs };
}

const SAMPLES: readonly [ShareSample, ShareSample] = [
  sample('2026-01-01T10:00:00.000Z', 10, [5, 1, 1, 1], 12),
  sample('2026-01-01T10:01:00.000Z', 0, [], 0),
];

describe('series of traffic', () => {
  it('count every request in one class', () => {
    const counts = CLASSES.map((name) => countOf(SAMPLES[0], name));
    assert.deepEqual(counts, [5, 1, 1, 1, 2]);
    assert.deepEqual(
      CLASSES.map((name) => countOf(SAMPLES[1], name)),
      [0, 0, 0, 0, 0],
    );
  });

  it('have times in seconds, and gaps where nothing was measured', () => {
    assert.deepEqual(timesOf(SAMPLES), [1_767_261_600, 1_767_261_660]);
    assert.deepEqual(latenciesOf(SAMPLES, 'p95'), [12, null]);
    assert.equal(mostOf([null, 3, 2]), 3);
    assert.equal(mostOf([]), 0);
    assert.equal(stepMsOf(SAMPLES), 60_000);
    assert.equal(stepMsOf([]), undefined);
  });
});
