/**
 * The timer of all xgress ends of the router. Acknowledgements are sent at the end of the turn in which the payloads
 * arrived. Every 100 ms it checks the ends that wait for something.
 */
import { failAlone } from '#net';
import { XGRESS_TICK_MS } from '#wire/xgress';

export interface TickingEnd {
  readonly circuitId: string;
  /** Returns false if it waits for nothing. Then `watch` has to be called again. */
  tick(nowMs: number): boolean;
  flushAcknowledgements(): void;
  /** Ends the circuit at once. */
  destroy(reason: string): void;
}

export class XgressTicker {
  readonly #watched = new Set<TickingEnd>();
  readonly #timer: NodeJS.Timeout;
  #due: TickingEnd[] = [];

  constructor() {
    this.#timer = setInterval(() => this.tick(performance.now()), XGRESS_TICK_MS);
  }

  /** Ends whose acknowledgements are sent at the end of this turn. */
  get dueCount(): number {
    return this.#due.length;
  }

  get watchedCount(): number {
    return this.#watched.size;
  }

  watch(end: TickingEnd): void {
    this.#watched.add(end);
  }

  forget(end: TickingEnd): void {
    this.#watched.delete(end);
  }

  acknowledgeLater(end: TickingEnd): void {
    if (this.#due.push(end) === 1) setImmediate(this.#flush);
  }

  tick(nowMs: number): void {
    for (const end of this.#watched) {
      try {
        if (!end.tick(nowMs)) this.#watched.delete(end);
      } catch (error) {
        this.#watched.delete(end);
        fail(end, error);
      }
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.#watched.clear();
    this.#due = [];
  }

  readonly #flush = (): void => {
    const due = this.#due;
    this.#due = [];
    for (const end of due) {
      try {
        end.flushAcknowledgements();
      } catch (error) {
        fail(end, error);
      }
    }
  };
}

function fail(end: TickingEnd, error: unknown): void {
  failAlone(
    { kind: 'circuit', id: end.circuitId, fail: () => end.destroy('internal error of the router') },
    error,
  );
}
