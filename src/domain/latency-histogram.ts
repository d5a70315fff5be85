/**
 * Latencies as counts per bucket: ten buckets of equal width between successive powers of two milliseconds, so
 * that a percentile is off by at most 5 % (below a millisecond by 0.05 ms), however many values are counted or
 * merged. The gateway counts; the control plane merges and computes percentiles.
 */
const PER_OCTAVE = 10;
const OCTAVES = 22;
/** Up to 70 minutes. Longer latencies count as that. */
export const LATENCY_BUCKETS = PER_OCTAVE * (1 + OCTAVES);

/** Alternating bucket and count, with ascending buckets and no zero counts. */
export type LatencyHistogram = readonly number[];

export const NO_LATENCIES: LatencyHistogram = [];

/** Runs for every request: no allocation. */
export function latencyBucketOf(ms: number): number {
  if (ms < 1) return ms > 0 ? Math.floor(ms * PER_OCTAVE) : 0;
  const octave = 31 - Math.clz32(Math.min(ms, 0x7fffffff));
  if (octave >= OCTAVES) return LATENCY_BUCKETS - 1;
  return PER_OCTAVE * (1 + octave) + Math.floor((ms / (1 << octave) - 1) * PER_OCTAVE);
}

/** Returns the middle of a bucket in milliseconds. */
export function latencyOfBucket(bucket: number): number {
  const step = bucket % PER_OCTAVE;
  if (bucket < PER_OCTAVE) return (step + 0.5) / PER_OCTAVE;
  const octave = Math.floor(bucket / PER_OCTAVE) - 1;
  return 2 ** octave * (1 + (step + 0.5) / PER_OCTAVE);
}

export function mergeLatencies(a: LatencyHistogram, b: LatencyHistogram): LatencyHistogram {
  if (a.length === 0) return b;
  if (b.length === 0) return a;
  const merged: number[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const left = a[i] ?? Infinity;
    const right = b[j] ?? Infinity;
    let count = 0;
    if (left <= right) {
      count += a[i + 1]!;
      i += 2;
    }
    if (right <= left) {
      count += b[j + 1]!;
      j += 2;
    }
    merged.push(Math.min(left, right), count);
  }
  return merged;
}

/** Returns the number of counted values. */
export function latencyCount(histogram: LatencyHistogram): number {
  let count = 0;
  for (let i = 1; i < histogram.length; i += 2) count += histogram[i]!;
  return count;
}

/**
 * Returns the latency in milliseconds that this fraction (0 to 1) of the requests did not exceed; 0 if none were
 * counted.
 */
export function latencyPercentile(histogram: LatencyHistogram, share: number): number {
  const rank = Math.max(1, Math.ceil(share * latencyCount(histogram)));
  let seen = 0;
  for (let i = 0; i < histogram.length; i += 2) {
    seen += histogram[i + 1]!;
    if (seen >= rank) return Math.round(latencyOfBucket(histogram[i]!) * 1_000) / 1_000;
  }
  return 0;
}

/** Returns a short text: `bucket:count`, separated by spaces. */
export function encodeLatencies(histogram: LatencyHistogram): string {
  let text = '';
  for (let i = 0; i < histogram.length; i += 2) {
    text += `${i === 0 ? '' : ' '}${histogram[i]}:${histogram[i + 1]}`;
  }
  return text;
}

/** Reverses `encodeLatencies`. */
export function decodeLatencies(text: string): LatencyHistogram {
  return text === '' ? NO_LATENCIES : text.split(/[ :]/).map(Number);
}
