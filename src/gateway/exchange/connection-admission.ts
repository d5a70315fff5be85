/** Limits for connections, in total and per client address, with at most one log line per address and interval. */
import type { Log } from '#base';

const LOG_AGAIN_MS = 10_000;
const MAX_LOGGED_ADDRESSES = 1_000;
/** Instead of an address: a flood from many is one line in each interval. */
const ALL = 'all';

export class ConnectionAdmission {
  readonly #maxConnections: number;
  readonly #maxPerAddress: number;
  readonly #log: Log;
  readonly #byAddress = new Map<string, number>();
  readonly #loggedAtMs = new Map<string, number>();
  readonly #onEmpty: () => void;
  #count = 0;

  /** `onEmpty` is called when the last connection has left. */
  constructor(maxConnections: number, maxPerAddress: number, log: Log, onEmpty: () => void = () => {}) {
    this.#onEmpty = onEmpty;
    this.#maxConnections = maxConnections;
    this.#maxPerAddress = maxPerAddress;
    this.#log = log;
  }

  get count(): number {
    return this.#count;
  }

  /** Returns whether the connection is admitted. If so, `leave` must be called once. */
  enter(address: string, nowMs: number): boolean {
    const own = this.#byAddress.get(address) ?? 0;
    if (own >= this.#maxPerAddress || this.#count >= this.#maxConnections) {
      if (own >= this.#maxPerAddress) this.#refused(address, nowMs, 'too many from this address');
      else this.#refused(ALL, nowMs, 'too many in total');
      return false;
    }
    this.#byAddress.set(address, own + 1);
    this.#count += 1;
    return true;
  }

  leave(address: string): void {
    const own = this.#byAddress.get(address) ?? 0;
    if (own > 1) this.#byAddress.set(address, own - 1);
    else this.#byAddress.delete(address);
    this.#count -= 1;
    if (this.#count === 0) this.#onEmpty();
  }

  #refused(client: string, nowMs: number, cause: string): void {
    const before = this.#loggedAtMs.get(client);
    if (before !== undefined && nowMs - before < LOG_AGAIN_MS) return;
    if (this.#loggedAtMs.size >= MAX_LOGGED_ADDRESSES) this.#loggedAtMs.clear();
    this.#loggedAtMs.set(client, nowMs);
    this.#log.warn({ hop: 'client', client, cause }, 'connection refused');
  }
}
