/**
 * The distribution of a value: a sample of 128 values in which recent ones are more likely to remain (forward decay,
 * like OpenZiti's). A plain mutable class over typed arrays, because it is updated for every frame.
 */
import type { Histogram } from './metrics.ts';

const SAMPLE_SIZE = 128;
/** Factor per second by which a value is more likely to remain than earlier ones. */
const ALPHA = 0.015;
/** Weights grow without limit. Before they exceed the range of a double, all of them are divided. */
const RESCALE_AFTER_S = 3_600;

export interface HistogramReading {
  /** Number of all values, while the statistics below describe the sample. */
  readonly count: number;
  /** Sum of all values. */
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly stdDev: number;
  readonly variance: number;
  readonly p50: number;
  readonly p75: number;
  readonly p95: number;
  readonly p99: number;
  readonly p999: number;
  readonly p9999: number;
}

/**
 * The weight of a value that is added now. All histograms of a registry share it, and ticks of the registry advance it.
 */
export class DecayClock {
  #landmarkMs: number;
  weight = 1;

  constructor(nowMs: number) {
    this.#landmarkMs = nowMs;
  }

  /** Returns the factor for all priorities; 1 if nothing changes. */
  tick(nowMs: number): number {
    const seconds = Math.max(0, (nowMs - this.#landmarkMs) / 1_000);
    if (seconds < RESCALE_AFTER_S) {
      this.weight = Math.exp(ALPHA * seconds);
      return 1;
    }
    this.#landmarkMs = nowMs;
    this.weight = 1;
    return Math.exp(-ALPHA * seconds);
  }
}

export class DecayingHistogram implements Histogram {
  readonly #clock: DecayClock;
  /** A heap by priority. The value with the lowest priority, which is replaced first, is at index 0. */
  readonly #values = new Float64Array(SAMPLE_SIZE);
  readonly #priorities = new Float64Array(SAMPLE_SIZE);
  #size = 0;
  #count = 0;
  #sum = 0;

  constructor(clock: DecayClock) {
    this.#clock = clock;
  }

  update(value: number): void {
    this.#count += 1;
    this.#sum += value;
    const priority = this.#clock.weight / (1 - Math.random());
    if (this.#size < SAMPLE_SIZE) {
      this.#size += 1;
      this.#rise(this.#size - 1, value, priority);
    } else if (priority > this.#priorities[0]!) {
      this.#sink(value, priority);
    }
  }

  clear(): void {
    this.#size = 0;
    this.#count = 0;
    this.#sum = 0;
  }

  /** Called after `DecayClock.tick`. The order of the heap does not change. */
  rescale(factor: number): void {
    for (let at = 0; at < this.#size; at += 1) this.#priorities[at]! *= factor;
  }

  /** Mean of the sample; 0 if it is empty. */
  get mean(): number {
    let sum = 0;
    for (let at = 0; at < this.#size; at += 1) sum += this.#values[at]!;
    return this.#size === 0 ? 0 : sum / this.#size;
  }

  read(): HistogramReading {
    const sorted = this.#values.slice(0, this.#size).sort();
    const { mean } = this;
    let squares = 0;
    for (const value of sorted) squares += (value - mean) ** 2;
    const variance = sorted.length === 0 ? 0 : squares / sorted.length;
    return {
      count: this.#count,
      sum: this.#sum,
      min: sorted[0] ?? 0,
      max: sorted.at(-1) ?? 0,
      mean,
      stdDev: Math.sqrt(variance),
      variance,
      p50: percentileOf(sorted, 0.5),
      p75: percentileOf(sorted, 0.75),
      p95: percentileOf(sorted, 0.95),
      p99: percentileOf(sorted, 0.99),
      p999: percentileOf(sorted, 0.999),
      p9999: percentileOf(sorted, 0.9999),
    };
  }

  #rise(from: number, value: number, priority: number): void {
    let at = from;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (this.#priorities[parent]! <= priority) break;
      this.#values[at] = this.#values[parent]!;
      this.#priorities[at] = this.#priorities[parent]!;
      at = parent;
    }
    this.#values[at] = value;
    this.#priorities[at] = priority;
  }

  /** Replaces the value at index 0. */
  #sink(value: number, priority: number): void {
    const size = this.#size;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && this.#priorities[child + 1]! < this.#priorities[child]!) child += 1;
      if (this.#priorities[child]! >= priority) break;
      this.#values[at] = this.#values[child]!;
      this.#priorities[at] = this.#priorities[child]!;
      at = child;
    }
    this.#values[at] = value;
    this.#priorities[at] = priority;
  }
}

/** Interpolates between the two neighbouring values. */
function percentileOf(sorted: Float64Array, share: number): number {
  if (sorted.length === 0) return 0;
  const position = share * (sorted.length + 1);
  if (position < 1) return sorted[0]!;
  if (position >= sorted.length) return sorted.at(-1)!;
  const lower = sorted[Math.floor(position) - 1]!;
  const upper = sorted[Math.floor(position)]!;
  return lower + (position - Math.floor(position)) * (upper - lower);
}
