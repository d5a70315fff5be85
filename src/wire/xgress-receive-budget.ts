/**
 * The memory budget for undelivered data in all receive buffers of a process. While much of it is used, a circuit
 * above its part of the budget announces a full window, even if its own buffer has room. A thousand slow readers
 * then cost no more than the budget, and a single one keeps its whole window. Mutable on purpose, because the
 * data path updates it.
 */

/** OpenZiti's value. Every circuit may hold this much, because it could stall otherwise. */
const LEAST_PART_BYTES = 16 * 1024;
/** The part for data that waits for an earlier payload, which needs no slow reader, only a far end that omits one. */
const GAP_PART = 1 / 5;

class SharedBytes {
  heldBytes = 0;
  /** Number of receive buffers that hold something. */
  holders = 0;
  readonly #halfBytes: number;
  readonly #limitBytes: number;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
    this.#halfBytes = limitBytes / 2;
  }

  /** A buffer's size changed from `before` to `after`. */
  count(before: number, after: number): void {
    this.heldBytes += after - before;
    if (before === 0 && after > 0) this.holders += 1;
    else if (before > 0 && after === 0) this.holders -= 1;
  }

  /** Whether a buffer of this size must accept no more now, so that its far end is asked to wait. */
  isOverdrawn(bytes: number): boolean {
    return bytes > LEAST_PART_BYTES && this.#isBeyondPart(bytes);
  }

  /** Whether data of a far end that does not wait is dropped, because its buffer or all buffers exceed the limit. */
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
  /** The part of the budget for out-of-order data. */
  readonly gaps: SharedBytes;

  /** All parts together stay below `limitBytes`, plus one payload. */
  constructor(limitBytes: number) {
    super(limitBytes);
    this.gaps = new SharedBytes(limitBytes * GAP_PART);
  }
}
