/**
 * Memory of long payloads, used again once the far end has acknowledged them: it is still in the caches then, while memory from
 * the garbage collection costs a fifth of the sealing, and collections as much as a tenth of a download. Only for channels
 * whose driver copies what it sends, and not for payloads that were sent again, because the repetition may still wait for the
 * connection.
 */
import { LONG_FRAME_BYTES, TLS_RECORD_BYTES } from './payload-size.ts';

/** Shorter payloads take memory of their own: the budget of what is not acknowledged counts their data, not the slabs. */
const LEAST_PART = 3 / 4;
/** What four circuits have outstanding, for slabs of each length. */
const MAX_FREE_BYTES = 4 * 1024 * 1024;

export class PayloadMemory {
  readonly #usual: Slabs;
  readonly #long: Slabs;

  /** `shareBytes`: what all circuits together may have outstanding. A small machine keeps half of it. */
  constructor(shareBytes = Infinity) {
    const maxFreeBytes = Math.min(MAX_FREE_BYTES, shareBytes / 4);
    // The data of a payload is shorter than its frame.
    this.#usual = new Slabs(TLS_RECORD_BYTES, maxFreeBytes);
    this.#long = new Slabs(LONG_FRAME_BYTES, maxFreeBytes);
  }

  /** Returns memory for a payload of this length, with old content, or undefined where none is kept. */
  take(bytes: number): Uint8Array<ArrayBuffer> | undefined {
    return this.#usual.take(bytes) ?? this.#long.take(bytes);
  }

  /** `data` is no longer used. Other memory than that of `take` is ignored. */
  give(data: Uint8Array): void {
    this.#usual.give(data);
    this.#long.give(data);
  }
}

class Slabs {
  readonly #bytes: number;
  readonly #leastBytes: number;
  readonly #maxFree: number;
  readonly #free: Uint8Array<ArrayBuffer>[] = [];
  /** Others may have buffers of the same length. */
  readonly #own = new WeakSet<ArrayBufferLike>();

  constructor(bytes: number, maxFreeBytes: number) {
    this.#bytes = bytes;
    this.#leastBytes = LEAST_PART * bytes;
    this.#maxFree = Math.floor(maxFreeBytes / bytes);
  }

  take(bytes: number): Uint8Array<ArrayBuffer> | undefined {
    if (bytes < this.#leastBytes || bytes > this.#bytes) return undefined;
    const slab = this.#free.pop() ?? this.#newSlab();
    return slab.subarray(0, bytes);
  }

  give({ buffer }: Uint8Array): void {
    if (buffer.byteLength !== this.#bytes || this.#free.length >= this.#maxFree) return;
    if (this.#own.has(buffer) && buffer instanceof ArrayBuffer) this.#free.push(new Uint8Array(buffer));
  }

  #newSlab(): Uint8Array<ArrayBuffer> {
    const { buffer } = Buffer.allocUnsafeSlow(this.#bytes);
    this.#own.add(buffer);
    return new Uint8Array(buffer);
  }
}
