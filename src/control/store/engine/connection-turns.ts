/**
 * Grants a database's few connections in the order of the requests. The queue is bounded in number and time, with
 * one timer for all.
 */
import { storeUnavailable } from './store-errors.ts';

const MAX_WAITERS = 20_000;
const MAX_WAIT_MS = 15_000;

interface Turn {
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  readonly sinceMs: number;
}

export class ConnectionTurns {
  #free: number;
  #waiting: Turn[] = [];
  #head = 0;
  #timer: NodeJS.Timeout | undefined;

  /** `connections` is the number of concurrent users. */
  constructor(connections: number) {
    this.#free = connections;
  }

  /** Returns undefined if a connection is free. Errors: `unavailable` if too many wait, or it takes too long. */
  take(): Promise<void> | undefined {
    if (this.#free > 0) {
      this.#free -= 1;
      return undefined;
    }
    if (this.#waiting.length - this.#head >= MAX_WAITERS)
      throw storeUnavailable('has too many statements waiting');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.push({ resolve, reject, sinceMs: performance.now() });
    this.#timer ??= setInterval(() => this.#expire(), 1_000).unref();
    return promise;
  }

  give(): void {
    const next = this.#shift();
    if (next === undefined) this.#free += 1;
    else next.resolve();
  }

  #shift(): Turn | undefined {
    const next = this.#waiting[this.#head];
    if (next !== undefined) this.#head += 1;
    if (this.#head > 1_024 || this.#head === this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#head);
      this.#head = 0;
    }
    if (this.#waiting.length === 0 && this.#timer !== undefined) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    return next;
  }

  #expire(): void {
    const limitMs = performance.now() - MAX_WAIT_MS;
    while ((this.#waiting[this.#head]?.sinceMs ?? Infinity) < limitMs) {
      this.#shift()!.reject(storeUnavailable('did not answer in time'));
    }
  }
}
