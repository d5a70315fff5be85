/**
 * The order in which guests, who have proven nothing yet, get what is scarce. Networks take turns, and within a network its
 * addresses, so that who asks often waits behind who asks once. Every other turn belongs to networks that have not failed
 * lately, if one waits. Bounded: when the queue is full, the one that has most waiting loses its latest.
 */
import { networkKey } from '#base';

/** How long the failure of a network counts. */
const FAILED_MS = 15 * 60_000;
const MAX_FAILED = 10_000;

/** The items of one network, by address. Addresses that wait for their turn longest come first. */
interface WaitingNetwork<T> {
  readonly byAddress: Map<string, T[]>;
  size: number;
}

export class GuestQueue<T> {
  readonly #maxWaiting: number;
  /** In milliseconds that never decrease. */
  readonly #nowMs: () => number;
  /** By key; those that wait for their turn longest come first. */
  readonly #networks = new Map<string, WaitingNetwork<T>>();
  /** When networks failed, the latest last. */
  readonly #failedAtMs = new Map<string, number>();
  #size = 0;
  #isTurnOfCalm = true;

  constructor(maxWaiting: number, nowMs: () => number) {
    this.#maxWaiting = maxWaiting;
    this.#nowMs = nowMs;
  }

  get size(): number {
    return this.#size;
  }

  /** Returns what the queue has no room for, which may be the item itself. */
  push(address: string, item: T): T | undefined {
    const key = networkKey(address);
    const network = this.#networks.get(key) ?? { byAddress: new Map<string, T[]>(), size: 0 };
    this.#networks.set(key, network);
    const items = network.byAddress.get(address) ?? [];
    network.byAddress.set(address, items);
    items.push(item);
    network.size += 1;
    this.#size += 1;
    return this.#size > this.#maxWaiting ? this.#displaced() : undefined;
  }

  /** Removes the next item. */
  shift(): T | undefined {
    const calm = this.#isTurnOfCalm ? this.#firstCalm() : undefined;
    this.#isTurnOfCalm = !this.#isTurnOfCalm;
    const key = calm ?? this.#networks.keys().next().value;
    if (key === undefined) return undefined;
    const network = this.#networks.get(key)!;
    const [address, items] = network.byAddress.entries().next().value!;
    const item = items.shift()!;
    // To the end, behind all that wait.
    network.byAddress.delete(address);
    if (items.length > 0) network.byAddress.set(address, items);
    network.size -= 1;
    this.#size -= 1;
    this.#networks.delete(key);
    if (network.size > 0) this.#networks.set(key, network);
    return item;
  }

  /** A guest at this address turned out to be an impostor. */
  failed(address: string): void {
    const key = networkKey(address);
    this.#failedAtMs.delete(key);
    this.#failedAtMs.set(key, this.#nowMs());
    if (this.#failedAtMs.size > MAX_FAILED) this.#failedAtMs.delete(this.#failedAtMs.keys().next().value!);
  }

  #firstCalm(): string | undefined {
    for (const key of this.#networks.keys()) if (!this.#hasFailed(key)) return key;
    return undefined;
  }

  #hasFailed(key: string): boolean {
    const failedAtMs = this.#failedAtMs.get(key);
    return failedAtMs !== undefined && this.#nowMs() - failedAtMs < FAILED_MS;
  }

  /** The largest network loses an item: one that failed before one that did not, and the one that came last before others. */
  #displaced(): T {
    let largest: readonly [key: string, network: WaitingNetwork<T>] | undefined;
    for (const entry of this.#networks) {
      const size = largest?.[1].size ?? 0;
      if (entry[1].size < size) continue;
      const isCalmer = largest !== undefined && this.#hasFailed(largest[0]) && !this.#hasFailed(entry[0]);
      if (entry[1].size > size || !isCalmer) largest = entry;
    }
    const [key, network] = largest!;
    let longest: readonly [address: string, items: T[]] = ['', []];
    for (const entry of network.byAddress) if (entry[1].length >= longest[1].length) longest = entry;
    const [address, items] = longest;
    const item = items.pop()!;
    if (items.length === 0) network.byAddress.delete(address);
    network.size -= 1;
    this.#size -= 1;
    if (network.size === 0) this.#networks.delete(key);
    return item;
  }
}
