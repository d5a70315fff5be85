/**
 * The memory of what waits for its turn or its reader in all receive buffers of a process. While it is much, a circuit
 * with more than its part of it has a full window, even if its own buffer has room: a thousand slow readers
 * then cost no more than the budget, and one alone keeps its whole window. Mutable on purpose: what waits on the data
 * path is counted here.
 */

/** Of OpenZiti's length: every circuit may hold so much, or it could come to a stand. */
const LEAST_PART_BYTES = 16 * 1024;
/** What waits for a payload before it needs no slow reader, only a far end that leaves one out. */
const GAP_PART = 1 / 5;

class SharedBytes {
  heldBytes = 0;
  /** Receive buffers that hold something. */
  holders = 0;
  readonly #halfBytes: number;
  readonly #limitBytes: number;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
    this.#halfBytes = limitBytes / 2;
  }

  /** A buffer that held `before` holds `after`. */
  count(before: number, after: number): void {
    this.heldBytes += after - before;
    if (before === 0 && after > 0) this.holders += 1;
    else if (before > 0 && after === 0) this.holders -= 1;
  }

  /** A buffer that holds so much is to take no more now: its far end is asked to wait. */
  isOverdrawn(bytes: number): boolean {
    return bytes > LEAST_PART_BYTES && this.#isBeyondPart(bytes);
  }

  /** Data of a far end that does not wait is dropped: its buffer holds too much, or all of them exceed the limit. */
  isSpent(bytes: number): boolean {
    return (
      this.heldBytes > this.#limitBytes || (bytes > 2 * LEAST_PART_BYTES && this.#isBeyondPart(bytes / 2))
    );
  }

  #isBeyondPart(bytes: number): boolean {
    return this.heldBytes > this.#halfBytes && bytes * this.holders > this.#halfBytes;
  }
}

export class ReceiveBudget extends SharedBytes {
  /** The part of the budget for data that is out of order. */
  readonly gaps: SharedBytes;

  /** All parts together stay below `limitBytes`, but for one payload more. */
  constructor(limitBytes: number) {
    super(limitBytes);
    this.gaps = new SharedBytes(limitBytes * GAP_PART);
  }
}
