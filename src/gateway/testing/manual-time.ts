/** A gateway's time that moves only by `advance`, for tests of what the gateway does after a while. */
import type { GatewayTime } from '../gateway-time.ts';

interface Repetition {
  readonly periodMs: number;
  readonly act: () => void;
  nextMs: number;
}

export class ManualTime implements GatewayTime {
  #nowMs = 0;
  readonly #repetitions = new Set<Repetition>();

  nowMs(): number {
    return this.#nowMs;
  }

  every(periodMs: number, act: () => void): () => void {
    const repetition = { periodMs, act, nextMs: this.#nowMs + periodMs };
    this.#repetitions.add(repetition);
    return () => this.#repetitions.delete(repetition);
  }

  /** Moves the time, and runs each timer that is due until then. */
  advance(ms: number): void {
    const endMs = this.#nowMs + ms;
    for (let next = this.#next(endMs); next !== undefined; next = this.#next(endMs)) {
      this.#nowMs = next.nextMs;
      next.nextMs += next.periodMs;
      next.act();
    }
    this.#nowMs = endMs;
  }

  /** Moves the time as it passes for a process that stands still: what is due is called once, at the end. */
  skip(ms: number): void {
    this.#nowMs += ms;
    for (const repetition of this.#repetitions) {
      if (repetition.nextMs > this.#nowMs) continue;
      repetition.nextMs = this.#nowMs + repetition.periodMs;
      repetition.act();
    }
  }

  #next(endMs: number): Repetition | undefined {
    const due = [...this.#repetitions].filter(({ nextMs }) => nextMs <= endMs);
    return due.sort((a, b) => a.nextMs - b.nextMs)[0];
  }
}
