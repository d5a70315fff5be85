/**
 * The bytes that wait for their readers in all receive buffers of a process. While they are many, a circuit with more
 * than its part of them has a full window, whatever its own buffer could still take: a thousand slow readers then cost
 * no more than the budget, and one alone keeps its whole window. Mutable on purpose: every payload is counted here.
 */

/** Of OpenZiti's length: every circuit may hold so much, or it could come to a stand. */
const LEAST_PART_BYTES = 16 * 1024;

export class ReceiveBudget {
  heldBytes = 0;
  /** Receive buffers that hold something. */
  holders = 0;
  readonly #halfBytes: number;

  /** All parts together stay below `limitBytes`, but for what is on its way when its sender is told to wait. */
  constructor(limitBytes: number) {
    this.#halfBytes = limitBytes / 2;
  }

  /** A buffer that holds so much is to take no more now. */
  isOverdrawn(bytes: number): boolean {
    if (this.heldBytes <= this.#halfBytes || bytes <= LEAST_PART_BYTES) return false;
    return bytes * this.holders > this.#halfBytes;
  }
}
