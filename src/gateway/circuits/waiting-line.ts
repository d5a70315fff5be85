/**
 * Who waits for a circuit of one share. Addresses take turns, so that whoever asks for thousands at once keeps nobody
 * else waiting; those of one address are served in the order in which they came.
 */

export interface InLine {
  /** Whose turn it takes: the caller by address. */
  readonly party: string;
  /** Takes only a circuit that has carried nothing yet. */
  readonly freshOnly: boolean;
}

export class WaitingLine<Waiter extends InLine> {
  /** The order of the parties is the order of their turns; none is empty. */
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

  /** Whose turn it is, taken out: of a circuit that has carried something, of those that take one. */
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
