/** The acknowledgements that circuits of one channel have to send. */

export interface Acknowledging {
  flushAcknowledgements(): void;
}

/** How long those may wait that their far ends allow to; these repeat nothing for 200 ms. */
const WAIT_MS = 20;

export class OwedAcknowledgements {
  #due: Acknowledging[] = [];
  /** A circuit may be in it twice, and then has nothing left to acknowledge the second time. */
  #waiting: Acknowledging[] = [];
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
    this.#waiting.push(circuit);
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
    this.#waiting = [];
  }

  readonly #flushWaiting = (): void => {
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const circuit of waiting) circuit.flushAcknowledgements();
  };
}
