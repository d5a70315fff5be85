/** Circuits that are removed once no more frames arrive for them. One timer checks each of them at an interval. */
import type { Clock } from '#base';

/** Shortest time between two checks of a circuit. */
const MIN_CHECK_MS = 100;

export class QuietCircuits {
  readonly intervalMs: number;
  readonly #dropIfQuiet: (circuitId: string) => boolean;
  readonly #clock: Clock;
  /** The due time of each, in ascending order, because the interval is the same for all. */
  readonly #due = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  /** `dropIfQuiet` returns true if the circuit was removed. With an interval of 0, it is called at once. */
  constructor(intervalMs: number, dropIfQuiet: (circuitId: string) => boolean, clock: Clock) {
    this.intervalMs = Math.max(0, intervalMs);
    this.#dropIfQuiet = dropIfQuiet;
    this.#clock = clock;
  }

  add(circuitId: string): void {
    if (this.#isClosed || this.#due.has(circuitId)) return;
    if (this.intervalMs === 0 && this.#dropIfQuiet(circuitId)) return;
    this.#due.set(circuitId, this.#clock.monotonicMs() + this.#checkMs);
    this.#timer ??= setTimeout(() => this.#check(), this.#checkMs);
  }

  remove(circuitId: string): void {
    this.#due.delete(circuitId);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#due.clear();
  }

  get #checkMs(): number {
    return Math.max(MIN_CHECK_MS, this.intervalMs);
  }

  #check(): void {
    this.#timer = undefined;
    const nowMs = this.#clock.monotonicMs();
    const due: string[] = [];
    for (const [circuitId, dueMs] of this.#due) {
      if (dueMs > nowMs) break;
      due.push(circuitId);
    }
    for (const circuitId of due) {
      this.#due.delete(circuitId);
      if (!this.#dropIfQuiet(circuitId)) this.#due.set(circuitId, nowMs + this.#checkMs);
    }
    const next = this.#due.values().next().value;
    if (next !== undefined) this.#timer = setTimeout(() => this.#check(), Math.max(1, next - nowMs));
  }
}
