/** A source of the time that tests can replace. */
export interface Clock {
  /** Returns Unix milliseconds. They jump when the machine's clock is set. */
  nowMs(): number;
  /** Returns milliseconds since any start, for durations. They never jump or decrease. */
  monotonicMs(): number;
}

// The module is compiled without platform types.
declare const performance: { now(): number };

/** A clock that moves only when a test advances or sets it. */
export class ManualClock implements Clock {
  #nowMs: number;
  #monotonicMs: number;

  constructor(startMs = 1_700_000_000_000) {
    this.#nowMs = startMs;
    this.#monotonicMs = startMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  advance(ms: number): void {
    this.#nowMs += ms;
    this.#monotonicMs += ms;
  }

  /** Sets the clock ahead, or back if `ms` is negative, while no time passes. */
  jump(ms: number): void {
    this.#nowMs += ms;
  }
}

/** Stands still while the underlying clock is set back, so that an expired time stays expired. */
export class ForwardClock implements Clock {
  readonly #clock: Clock;
  #latestMs = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  nowMs(): number {
    const nowMs = this.#clock.nowMs();
    if (nowMs > this.#latestMs) this.#latestMs = nowMs;
    return this.#latestMs;
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }
}

/**
 * Unix milliseconds as they were when it was made, moved on by the time that passed since: leases in memory, which a
 * clock that is set must neither end nor extend.
 */
export class LeaseClock implements Clock {
  readonly #clock: Clock;
  readonly #startMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startMs = clock.nowMs() - clock.monotonicMs();
  }

  nowMs(): number {
    return Math.round(this.#startMs + this.#clock.monotonicMs());
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  /** How far the underlying clock was set ahead since; negative if back. */
  get aheadMs(): number {
    return Math.round(this.#clock.nowMs() - this.#startMs - this.#clock.monotonicMs());
  }
}

export const systemClock: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
