import { memoryShares } from '../memory-shares.ts';

class ByteLimit {
  readonly #limitBytes: number;
  #heldBytes = 0;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Returns false, and takes nothing, if the bytes do not fit. */
  take(bytes: number): boolean {
    if (this.#heldBytes + bytes > this.#limitBytes) return false;
    this.#heldBytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#heldBytes -= bytes;
  }
}

const allDatagrams = new ByteLimit(memoryShares.datagramBytes);

/** The bytes of datagrams that may wait in all connections of one owner together. All owners share a limit too. */
export class DatagramBudget extends ByteLimit {
  override take(bytes: number): boolean {
    if (!allDatagrams.take(bytes)) return false;
    if (super.take(bytes)) return true;
    allDatagrams.release(bytes);
    return false;
  }

  override release(bytes: number): void {
    super.release(bytes);
    allDatagrams.release(bytes);
  }
}
