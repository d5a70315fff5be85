/**
 * Milliseconds during which this process ran, for deadlines of its peers: a time in which the process or the
 * machine stood still counts as at most one step. Exact if it is read more often than that.
 */
export class RunningClock {
  readonly #maxStepMs: number;
  readonly #monotonicMs: () => number;
  #readMs: number;
  #nowMs: number;

  /** Starts at the current value of `monotonicMs`. */
  constructor(maxStepMs: number, monotonicMs: () => number) {
    this.#maxStepMs = maxStepMs;
    this.#monotonicMs = monotonicMs;
    this.#readMs = monotonicMs();
    this.#nowMs = this.#readMs;
  }

  nowMs(): number {
    const readMs = this.#monotonicMs();
    this.#nowMs += Math.min(readMs - this.#readMs, this.#maxStepMs);
    this.#readMs = readMs;
    return this.#nowMs;
  }
}
