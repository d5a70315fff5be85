/**
 * The queue of requests that wait for a circuit of one share. Addresses take turns, so that one address with
 * thousands of requests does not delay the others; requests of one address are served in order.
 */

export interface InLine {
  /** The address whose turn the request uses. */
  readonly party: string;
  /** Whether the request needs a circuit that has carried nothing yet. */
  readonly freshOnly: boolean;
}

export class WaitingLine<Waiter extends InLine> {
  /** Parties in the order of their turns. None is empty. */
  readonly #parties = new Map<string, Set<Waiter>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(waiter: Waiter): void {
    const party = this.#parties.get(waiter.party);
    if (party === undefined) this.#parties.set(waiter.party, new Set([waiter]));
    else party.add(waiter);
    this.#size += 1;
  }

  delete(waiter: Waiter): void {
    const { party } = waiter;
    const waiters = this.#parties.get(party);
    if (waiters === undefined || !waiters.delete(waiter)) return;
    this.#size -= 1;
    if (waiters.size === 0) this.#parties.delete(party);
  }

  /** Removes and returns the next request. A used circuit goes to one that accepts it. */
  next(isUsed: boolean): Waiter | undefined {
    for (const [party, waiters] of this.#parties) {
      for (const waiter of waiters) {
        if (isUsed && waiter.freshOnly) continue;
        this.delete(waiter);
        if (waiters.size > 0) {
          this.#parties.delete(party);
          this.#parties.set(party, waiters);
        }
        return waiter;
      }
    }
    return undefined;
  }
}
