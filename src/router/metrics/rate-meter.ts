/**
 * How many, and how many a second over the last one, five and fifteen minutes: the moving averages of a load figure,
 * renewed every five seconds. A plain mutable class: it is marked for every frame.
 */
import type { Meter } from './metrics.ts';

export const TICK_MS = 5_000;
const TICK_S = TICK_MS / 1_000;

/** Share of a new five seconds in an average over so many minutes. */
const alphaOf = (minutes: number): number => 1 - Math.exp(-TICK_S / 60 / minutes);
const M1 = alphaOf(1);
const M5 = alphaOf(5);
const M15 = alphaOf(15);

export interface MeterReading {
  readonly count: number;
  /** A second. */
  readonly m1Rate: number;
  readonly m5Rate: number;
  readonly m15Rate: number;
  /** Since the meter was made. */
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

  /** So many times five seconds are over; what was marked since the last call counts for the first of them. */
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
