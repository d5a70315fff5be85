/**
 * The memory budgets for data in all circuits of a process: data that was received and not delivered, and data that
 * was sent and not acknowledged. While much of a budget is used, a circuit above its part of it announces a full window,
 * or waits for acknowledgements, even if its own buffer has room. A thousand slow readers, or far ends that
 * acknowledge nothing, then cost no more than the budget, and a single one keeps its whole window. Mutable on purpose,
 * because the data path updates it.
 */

/** OpenZiti's value. Every circuit may hold this much, because it could stall otherwise. */
export const LEAST_PART_BYTES = 16 * 1024;
/** The part for data that waits for an earlier payload, which needs no slow reader, only a far end that omits one. */
const GAP_PART = 1 / 5;

export class SharedBytes {
  heldBytes = 0;
  /** Number of buffers that hold something. */
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

  /** Whether a buffer of this size must accept no more now, so that the data's source has to wait. */
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

export class CircuitBudget extends SharedBytes {
  /** The part of the budget for out-of-order data. */
  readonly gaps: SharedBytes;
  readonly unacknowledged: SharedBytes;

  /** All received parts together stay below `receivedBytes`, plus one payload, and all sent ones below `sentBytes`. */
  constructor(receivedBytes: number, sentBytes = receivedBytes) {
    super(receivedBytes);
    this.gaps = new SharedBytes(receivedBytes * GAP_PART);
    this.unacknowledged = new SharedBytes(sentBytes);
  }
}
