import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../test/support/fast-check.ts';
import {
  decodeLatencies,
  encodeLatencies,
  LATENCY_BUCKETS,
  latencyBucketOf,
  latencyCount,
  latencyOfBucket,
  latencyPercentile,
  mergeLatencies,
  NO_LATENCIES,
  type LatencyHistogram,
} from './latency-histogram.ts';

function histogramOf(latencies: readonly number[]): LatencyHistogram {
  return latencies.reduce<LatencyHistogram>(
    (sum, ms) => mergeLatencies(sum, [latencyBucketOf(ms), 1]),
    NO_LATENCIES,
  );
}

test('a latency is read back within 5 %, below a millisecond within 0.05 ms', () => {
  for (let ms = 0.01; ms < 4_194_304; ms *= 1.003) {
    const off = Math.abs(latencyOfBucket(latencyBucketOf(ms)) - ms);
    assert.ok(off <= (ms < 1 ? 0.05 : 0.05 * ms) + 1e-9, `${ms} ms is off by ${off}`);
  }
});

test('buckets ascend without a gap, and nothing falls outside', () => {
  for (let bucket = 0; bucket < LATENCY_BUCKETS; bucket += 1) {
    assert.equal(latencyBucketOf(latencyOfBucket(bucket)), bucket);
  }
  for (const ms of [0, -1]) assert.equal(latencyBucketOf(ms), 0);
  for (const ms of [4_194_304, 1e9, 2 ** 31, 2 ** 40, Infinity])
    assert.equal(latencyBucketOf(ms), LATENCY_BUCKETS - 1);
  assert.equal(latencyBucketOf(1), 10);
  assert.equal(latencyBucketOf(0.999_999), 9);
});

test('percentiles of ten thousand requests are within 5 % of the true ones', () => {
  const latencies = Array.from({ length: 10_000 }, (_, i) => 0.5 + ((i * 7_919) % 10_000) * 0.37);
  const sorted = latencies.toSorted((a, b) => a - b);
  const histogram = histogramOf(latencies);
  for (const share of [0.01, 0.5, 0.95, 0.99, 1]) {
    const real = sorted[Math.ceil(share * sorted.length) - 1]!;
    const read = latencyPercentile(histogram, share);
    assert.ok(Math.abs(read - real) <= 0.051 * real, `p${share * 100}: ${read} for ${real}`);
  }
});

test('the percentile of no requests is 0, of one request its latency', () => {
  assert.equal(latencyPercentile(NO_LATENCIES, 0.5), 0);
  for (const share of [0.5, 0.95, 0.99]) assert.equal(latencyPercentile(histogramOf([100]), share), 99.2);
});

test('merging in any order and grouping counts every request once, and the text holds all of it', () => {
  const latency = fc.double({ min: 0, max: 5_000_000, noNaN: true });
  fc.assert(
    fc.property(fc.array(latency, { maxLength: 60 }), fc.nat(60), (latencies, cut) => {
      const whole = histogramOf(latencies);
      const parts = [histogramOf(latencies.slice(cut)), histogramOf(latencies.slice(0, cut))] as const;
      assert.deepEqual(mergeLatencies(...parts), whole);
      assert.equal(latencyCount(whole), latencies.length);
      assert.deepEqual(decodeLatencies(encodeLatencies(whole)), whole);
      const buckets = whole.filter((_, i) => i % 2 === 0);
      assert.deepEqual(
        buckets,
        [...new Set(buckets)].toSorted((a, b) => a - b),
      );
    }),
  );
});
