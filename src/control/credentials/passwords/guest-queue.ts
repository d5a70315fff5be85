/**
 * The order in which guests, who have proven nothing yet, get what is scarce. Networks take turns, and within a network its
 * addresses, so that who asks often waits behind who asks once. Every other turn belongs to a network that has not failed lately,
 * to the one with the fewest waiting, because a network that guesses is not known before its first guess was judged. Bounded:
 * when the queue is full, the network that has most waiting loses its latest item, and one that failed lately loses it before an
 * office of many people.
 */
import { networkKey, type FailedNetworks } from '#base';

/** An item of a network that failed lately is as many as so many of others. */
const SUSPECT_WEIGHT = 16;

/** The items of one network, by address. Addresses that wait for their turn longest come first. */
interface WaitingNetwork<T> {
  readonly byAddress: Map<string, T[]>;
  size: number;
}

export class GuestQueue<T> {
  readonly #maxWaiting: number;
  readonly #failures: FailedNetworks;
  /** By key; those that wait for their turn longest come first. */
  readonly #networks = new Map<string, WaitingNetwork<T>>();
  #size = 0;
  #isTurnOfCalm = true;

  constructor(maxWaiting: number, failures: FailedNetworks) {
    this.#maxWaiting = maxWaiting;
    this.#failures = failures;
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

  /** Removes an item that no longer has to wait. Does nothing if it does not wait. */
  remove(address: string, item: T): void {
    const key = networkKey(address);
    const network = this.#networks.get(key);
    const items = network?.byAddress.get(address) ?? [];
    const at = items.indexOf(item);
    if (network === undefined || at === -1) return;
    items.splice(at, 1);
    this.#removed(key, network, address, items);
  }

  #firstCalm(): string | undefined {
    let fewest: readonly [key: string, size: number] | undefined;
    for (const [key, { size }] of this.#networks) {
      if (fewest !== undefined && size >= fewest[1]) continue;
      if (!this.#failures.hasNetwork(key)) fewest = [key, size];
    }
    return fewest?.[0];
  }

  /** The heaviest network loses an item, and of several the one that came last. */
  #displaced(): T {
    let largest: readonly [key: string, network: WaitingNetwork<T>] | undefined;
    let most = 0;
    for (const entry of this.#networks) {
      const weight = entry[1].size * (this.#failures.hasNetwork(entry[0]) ? SUSPECT_WEIGHT : 1);
      if (weight >= most) [largest, most] = [entry, weight];
    }
    const [key, network] = largest!;
    let longest: readonly [address: string, items: T[]] = ['', []];
    for (const entry of network.byAddress) if (entry[1].length >= longest[1].length) longest = entry;
    const [address, items] = longest;
    const item = items.pop()!;
    this.#removed(key, network, address, items);
    return item;
  }

  /** Counts one item less, and keeps the places of the others. */
  #removed(key: string, network: WaitingNetwork<T>, address: string, items: readonly T[]): void {
    if (items.length === 0) network.byAddress.delete(address);
    network.size -= 1;
    this.#size -= 1;
    if (network.size === 0) this.#networks.delete(key);
  }
}
