/** The time, as a value that tests replace. */
export interface Clock {
  /** Unix milliseconds. */
  nowMs(): number;
}

/** A clock that moves only when told to. */
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

/** Stands still while the clock that it follows is set back, so that what was over by it stays over. */
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
