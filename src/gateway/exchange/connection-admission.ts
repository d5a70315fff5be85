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

  /**
   * Returns whether the connection is admitted. If so, `leave` must be called once. `address` is undefined for a trusted
   * proxy, whose connections belong to many clients: these are counted by `enterClient`.
   */
  enter(address: string | undefined, nowMs: number): boolean {
    if (this.#count >= this.#maxConnections) {
      this.#refused(ALL, nowMs, 'too many in total');
      return false;
    }
    if (address !== undefined && !this.enterClient(address, nowMs)) return false;
    this.#count += 1;
    return true;
  }

  leave(address: string | undefined): void {
    if (address !== undefined) this.leaveClient(address);
    this.#count -= 1;
    if (this.#count === 0) this.#onEmpty();
  }

  /** Returns whether its client may have one more. If so, `leaveClient` must be called once. */
  enterClient(address: string, nowMs: number): boolean {
    const own = this.#byAddress.get(address) ?? 0;
    if (own >= this.#maxPerAddress) {
      this.#refused(address, nowMs, 'too many from this address');
      return false;
    }
    this.#byAddress.set(address, own + 1);
    return true;
  }

  leaveClient(address: string): void {
    const own = this.#byAddress.get(address) ?? 0;
    if (own > 1) this.#byAddress.set(address, own - 1);
    else this.#byAddress.delete(address);
  }

  #refused(client: string, nowMs: number, cause: string): void {
    const before = this.#loggedAtMs.get(client);
    if (before !== undefined && nowMs - before < LOG_AGAIN_MS) return;
    if (this.#loggedAtMs.size >= MAX_LOGGED_ADDRESSES) this.#loggedAtMs.clear();
    this.#loggedAtMs.set(client, nowMs);
    this.#log.warn({ hop: 'client', client, cause }, 'connection refused');
  }
}
