/** A source of the time that tests can replace. */
export interface Clock {
  /** Returns Unix milliseconds. */
  nowMs(): number;
}

/** A clock that moves only when a test advances it. */
export class ManualClock implements Clock {
  #nowMs: number;

  constructor(startMs = 1_700_000_000_000) {
    this.#nowMs = startMs;
  }

  nowMs(): number {
    return this.#nowMs;
  }

  advance(ms: number): void {
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
}

export const systemClock: Clock = { nowMs: () => Date.now() };
