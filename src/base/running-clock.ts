/**
 * Milliseconds in which this process ran, for deadlines that it holds others to: a time for which it stood still, by
 * itself or with its machine, counts as one step at most. Exact as long as it is read more often than that.
 */
import type { Clock } from './clock.ts';

export class RunningClock implements Clock {
  readonly #maxStepMs: number;
  readonly #monotonicMs: () => number;
  #readMs: number;
  #nowMs: number;

  /** Starts at what `monotonicMs` says. */
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
