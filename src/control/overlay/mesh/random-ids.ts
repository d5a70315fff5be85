/**
 * Ids of circuits and of their addresses: random bits in base 62. Random bytes are taken in batches, because a call for
 * 16 of them costs more than the id.
 */
import { randomBytes } from 'node:crypto';
import { base62 } from '#base';
import { CIRCUIT_ID_CHARACTERS } from '#wire/circuits';

const ID_BYTES = 16;
/** As many as the characters of an id can have. */
const CIRCUIT_ID_BYTES = 18;
const BATCH_BYTES = 4_096;

class RandomBatch {
  #bytes = Buffer.alloc(0);
  #used = 0;

  /** The bytes are valid until the next call. */
  next(count: number): Uint8Array {
    if (this.#used + count > this.#bytes.length) {
      this.#bytes = randomBytes(BATCH_BYTES);
      this.#used = 0;
    }
    this.#used += count;
    return this.#bytes.subarray(this.#used - count, this.#used);
  }
}

const batch = new RandomBatch();

/** Returns 128 random bits, at most 22 characters. */
export function randomId(): string {
  return base62(batch.next(ID_BYTES));
}

/** Returns the id of a new circuit. */
export function newCircuitId(): string {
  return base62(batch.next(CIRCUIT_ID_BYTES)).padStart(CIRCUIT_ID_CHARACTERS, '0');
}
