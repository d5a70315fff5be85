/** The acknowledgements that circuits of one channel have to send. */

export interface Acknowledging {
  flushAcknowledgements(): void;
}

/** How long those may wait that their far ends allow to; these repeat nothing for 200 ms. */
const WAIT_MS = 20;

export class OwedAcknowledgements {
  #due: Acknowledging[] = [];
  readonly #waiting = new Set<Acknowledging>();
  #timer: NodeJS.Timeout | undefined;

  /**
   * Sends the circuit's acknowledgements at the next `flush`, or with `mayWait` within 20 ms, so that one frame acknowledges
   * the payloads of several requests.
   */
  add(circuit: Acknowledging, mayWait: boolean): void {
    if (!mayWait) {
      this.#due.push(circuit);
      return;
    }
    this.#waiting.add(circuit);
    this.#timer ??= setTimeout(this.#flushWaiting, WAIT_MS);
  }

  /** Called after each batch of received frames. */
  flush(): void {
    if (this.#due.length === 0) return;
    const due = this.#due;
    this.#due = [];
    for (const circuit of due) circuit.flushAcknowledgements();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#waiting.clear();
  }

  readonly #flushWaiting = (): void => {
    this.#timer = undefined;
    for (const circuit of this.#waiting) circuit.flushAcknowledgements();
    this.#waiting.clear();
  };
}
