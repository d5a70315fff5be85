/**
 * The queue of requests that wait for a circuit of one share. Addresses take turns, so that one address with
 * thousands of requests does not delay the others; requests of one address are served in order.
 */

import { ShortLivedMap, ShortLivedSet, type Numbered } from '#base';

export interface InLine extends Numbered {
  /** The address whose turn the request uses. */
  readonly party: string;
  /** Whether the request needs a circuit that has carried nothing yet. */
  readonly freshOnly: boolean;
  /** When the request began to need a circuit. */
  readonly sinceMs: number;
}

interface Party<Waiter extends InLine> {
  readonly name: string;
  readonly waiters: ShortLivedSet<Waiter>;
}

export class WaitingLine<Waiter extends InLine> {
  /** By name, in the order of their turns. None is empty. */
  readonly #parties = new ShortLivedMap<string, Party<Waiter>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(waiter: Waiter): void {
    let party = this.#parties.get(waiter.party);
    if (party === undefined) {
      party = { name: waiter.party, waiters: new ShortLivedSet() };
      this.#parties.set(party.name, party);
    }
    party.waiters.add(waiter);
    this.#size += 1;
  }

  /** Returns whether it was in the line. */
  delete(waiter: Waiter): boolean {
    const party = this.#parties.get(waiter.party);
    if (party?.waiters.delete(waiter) !== true) return false;
    this.#size -= 1;
    if (party.waiters.size === 0) this.#parties.delete(party.name);
    return true;
  }

  /** Returns the next request that is not in `taken` and leaves it in the line. */
  nextBeside(taken: ReadonlySet<Waiter>): Waiter | undefined {
    for (const party of this.#parties.values()) {
      for (const waiter of party.waiters) {
        if (taken.has(waiter)) continue;
        this.#parties.delete(party.name);
        this.#parties.set(party.name, party);
        return waiter;
      }
    }
    return undefined;
  }

  /** Removes and returns the next request. A used circuit goes to one that accepts it. */
  next(isUsed: boolean): Waiter | undefined {
    for (const party of this.#parties.values()) {
      for (const waiter of party.waiters) {
        if (isUsed && waiter.freshOnly) continue;
        this.delete(waiter);
        if (party.waiters.size > 0) {
          this.#parties.delete(party.name);
          this.#parties.set(party.name, party);
        }
        return waiter;
      }
    }
    return undefined;
  }

  /** Removes and returns the requests that wait since `sinceMs` or longer. */
  overdue(sinceMs: number): Waiter[] {
    const found: Waiter[] = [];
    for (const { waiters } of this.#parties.values())
      for (const waiter of waiters) if (waiter.sinceMs <= sinceMs) found.push(waiter);
    for (const waiter of found) this.delete(waiter);
    return found;
  }
}
