/**
 * The spread of a figure: a sample of 128 values in which younger ones are likelier to stay (forward decay, as
 * OpenZiti's), however many came. A plain mutable class over typed arrays: it is fed for every frame.
 */
import type { Histogram } from './metrics.ts';

const SAMPLE_SIZE = 128;
/** By how much a second makes a value likelier to stay than those before it. */
const ALPHA = 0.015;
/** Weights grow without end; before they leave what a double can hold, all are divided. */
const RESCALE_AFTER_S = 3_600;

export interface HistogramReading {
  /** All values that came; the rest is of the sample. */
  readonly count: number;
  /** Of all values that came. */
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

/** What a value that comes now weighs; one for all histograms of a registry, moved on by its ticks. */
export class DecayClock {
  #landmarkMs: number;
  weight = 1;

  constructor(nowMs: number) {
    this.#landmarkMs = nowMs;
  }

  /** What all priorities have to be multiplied by; 1: nothing to do. */
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
  /** A heap by priority: the value that goes first when a likelier one comes stands at 0. */
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

  /** After `DecayClock.tick`. The order of a heap stays as it is. */
  rescale(factor: number): void {
    for (let at = 0; at < this.#size; at += 1) this.#priorities[at]! *= factor;
  }

  /** Mean of the sample; 0 while nothing came. */
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

  /** Takes the place of the first. */
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

/** Between the two values that it lies between. */
function percentileOf(sorted: Float64Array, share: number): number {
  if (sorted.length === 0) return 0;
  const position = share * (sorted.length + 1);
  if (position < 1) return sorted[0]!;
  if (position >= sorted.length) return sorted.at(-1)!;
  const lower = sorted[Math.floor(position) - 1]!;
  const upper = sorted[Math.floor(position)]!;
  return lower + (position - Math.floor(position)) * (upper - lower);
}
