/**
 * Memory of long payloads, used again once the far end has acknowledged them: it is still in the caches then, while memory from
 * the garbage collection costs a fifth of the sealing, and collections as much as a tenth of a download. Only for channels
 * whose driver copies what it sends, and not for payloads that were sent again, because the repetition may still wait for the
 * connection.
 */

/** Longer than the data of any payload of a circuit. */
const SLAB_BYTES = 16_384;
/** Shorter payloads take memory of their own: the budget of what is not acknowledged counts their data, not the slabs. */
const FROM_BYTES = 12_288;
/** What four circuits have outstanding. */
const MAX_FREE_BYTES = 4 * 1024 * 1024;

export class PayloadMemory {
  readonly #free: Uint8Array<ArrayBuffer>[] = [];
  /** Others may have buffers of the same length. */
  readonly #own = new WeakSet<ArrayBufferLike>();
  readonly #maxFree: number;

  /** `shareBytes`: what all circuits together may have outstanding. A small machine keeps half of it. */
  constructor(shareBytes = Infinity) {
    this.#maxFree = Math.floor(Math.min(MAX_FREE_BYTES, shareBytes / 2) / SLAB_BYTES);
  }

  /** Returns memory for a payload of this length, with old content, or undefined for a short one. */
  take(bytes: number): Uint8Array<ArrayBuffer> | undefined {
    if (bytes < FROM_BYTES || bytes > SLAB_BYTES) return undefined;
    const slab = this.#free.pop() ?? this.#newSlab();
    return slab.subarray(0, bytes);
  }

  /** `data` is no longer used. Other memory than that of `take` is ignored. */
  give({ buffer }: Uint8Array): void {
    if (this.#free.length < this.#maxFree && this.#own.has(buffer) && buffer instanceof ArrayBuffer)
      this.#free.push(new Uint8Array(buffer));
  }

  #newSlab(): Uint8Array<ArrayBuffer> {
    const { buffer } = Buffer.allocUnsafeSlow(SLAB_BYTES);
    this.#own.add(buffer);
    return new Uint8Array(buffer);
  }
}
