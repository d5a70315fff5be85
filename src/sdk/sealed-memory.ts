/**
 * Memory of long sealed messages, used again once the far end has acknowledged them: it is still in the caches then, while
 * memory from the garbage collection costs a fifth of the sealing. Only for channels whose driver copies what it sends, and not
 * for messages that were sent again, because the repetition may still wait for the connection.
 */

/** Longer than any sealed message of a circuit. */
const SEALED_SLAB_BYTES = 16_384;
/** Shorter messages take memory of their own. */
const FROM_BYTES = 8_192;
/** 1 MiB: what one circuit has outstanding. */
const MAX_FREE = 64;

export class SealedMemory {
  readonly #free: Uint8Array<ArrayBuffer>[] = [];

  /** Returns memory for a sealed message of this length, with old content, or undefined for a short one. */
  take(bytes: number): Uint8Array<ArrayBuffer> | undefined {
    if (bytes < FROM_BYTES || bytes > SEALED_SLAB_BYTES) return undefined;
    const slab = this.#free.pop() ?? new Uint8Array(Buffer.allocUnsafeSlow(SEALED_SLAB_BYTES).buffer);
    return slab.subarray(0, bytes);
  }

  /** `sealed` is not used any more. Other memory than that of `take` is ignored. */
  give({ buffer }: Uint8Array): void {
    if (
      this.#free.length < MAX_FREE &&
      buffer.byteLength === SEALED_SLAB_BYTES &&
      buffer instanceof ArrayBuffer
    )
      this.#free.push(new Uint8Array(buffer));
  }
}
