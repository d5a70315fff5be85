/** Circuits of a channel that have ended cleanly and stay for a while to acknowledge what their far ends repeat. */

/** Beyond the limit, circuits leave at their end. */
const MAX_LINGERING = 1_000;

export class LingeringCircuits {
  readonly #circuits = new Set<object>();
  #waiting: (() => void)[] = [];

  /** Returns false at the limit. */
  add(circuit: object): boolean {
    if (this.#circuits.size >= MAX_LINGERING) return false;
    this.#circuits.add(circuit);
    return true;
  }

  delete(circuit: object): void {
    if (!this.#circuits.delete(circuit) || this.#circuits.size > 0) return;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Resolves when there are none. */
  async gone(): Promise<void> {
    if (this.#circuits.size > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
