/**
 * Time for all xgress ends of the router: acknowledgements leave at the end of the turn that brought the payloads, and
 * every 100 ms those ends are looked at that wait for something, the others not at all.
 */
import { XGRESS_TICK_MS } from '#wire';

export interface TickingEnd {
  /** False: there is nothing left that it waits for; `watch` it again when there is. */
  tick(nowMs: number): boolean;
  flushAcknowledgements(): void;
}

export class XgressTicker {
  readonly #watched = new Set<TickingEnd>();
  readonly #timer: NodeJS.Timeout;
  #due: TickingEnd[] = [];

  constructor() {
    this.#timer = setInterval(() => this.tick(Date.now()), XGRESS_TICK_MS);
  }

  /** Ends whose acknowledgements leave at the end of this turn. */
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
    for (const end of this.#watched) if (!end.tick(nowMs)) this.#watched.delete(end);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#watched.clear();
    this.#due = [];
  }

  readonly #flush = (): void => {
    const due = this.#due;
    this.#due = [];
    for (const end of due) end.flushAcknowledgements();
  };
}
