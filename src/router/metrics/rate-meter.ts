/**
 * Counts events, and their rate per second over the last one, five and fifteen minutes: moving averages like those of
 * the system load, updated every five seconds. A plain mutable class, because it is called for every frame.
 */
import type { Meter } from './metrics.ts';

export const TICK_MS = 5_000;
const TICK_S = TICK_MS / 1_000;

/** The weight of a new interval of five seconds in an average over this many minutes. */
const alphaOf = (minutes: number): number => 1 - Math.exp(-TICK_S / 60 / minutes);
const M1 = alphaOf(1);
const M5 = alphaOf(5);
const M15 = alphaOf(15);

export interface MeterReading {
  readonly count: number;
  /** Events per second. */
  readonly m1Rate: number;
  readonly m5Rate: number;
  readonly m15Rate: number;
  /** The count since the meter was created. */
  readonly meanRate: number;
}

export class RateMeter implements Meter {
  readonly #startedMs: number;
  #count = 0;
  #fresh = 0;
  #m1 = 0;
  #m5 = 0;
  #m15 = 0;
  #hasRates = false;

  constructor(nowMs: number) {
    this.#startedMs = nowMs;
  }

  mark(count: number): void {
    this.#count += count;
    this.#fresh += count;
  }

  /** Advances by this number of five-second intervals. Events since the last call count for the first of them. */
  tick(times: number): void {
    const rate = this.#fresh / TICK_S;
    this.#fresh = 0;
    if (this.#hasRates) {
      this.#m1 += M1 * (rate - this.#m1);
      this.#m5 += M5 * (rate - this.#m5);
      this.#m15 += M15 * (rate - this.#m15);
    } else {
      this.#hasRates = true;
      this.#m1 = rate;
      this.#m5 = rate;
      this.#m15 = rate;
    }
    if (times === 1) return;
    this.#m1 *= (1 - M1) ** (times - 1);
    this.#m5 *= (1 - M5) ** (times - 1);
    this.#m15 *= (1 - M15) ** (times - 1);
  }

  read(nowMs: number): MeterReading {
    const seconds = (nowMs - this.#startedMs) / 1_000;
    return {
      count: this.#count,
      m1Rate: this.#m1,
      m5Rate: this.#m5,
      m15Rate: this.#m15,
      meanRate: seconds > 0 ? this.#count / seconds : 0,
    };
  }
}
