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

export const systemClock: Clock = { nowMs: () => Date.now() };
