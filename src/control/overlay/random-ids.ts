/**
 * Ids of circuits and of their addresses: random bits in base 62. Random bytes are taken in batches, because a call for
 * 16 of them costs more than the id.
 */
import { randomBytes } from 'node:crypto';
import { base62 } from '#base';
import { CIRCUIT_ID_CHARACTERS } from '#wire';

const ID_BYTES = 16;
/** As many as the characters of an id can have. */
const CIRCUIT_ID_BYTES = 18;
const BATCH_BYTES = 4_096;

let batch = Buffer.alloc(0);
let used = 0;

/** Returns 128 random bits, at most 22 characters. */
export function randomId(): string {
  return base62(nextBytes(ID_BYTES));
}

/** Returns the id of a new circuit. */
export function newCircuitId(): string {
  return base62(nextBytes(CIRCUIT_ID_BYTES)).padStart(CIRCUIT_ID_CHARACTERS, '0');
}

/** The bytes are valid until the next call. */
function nextBytes(bytes: number): Uint8Array {
  if (used + bytes > batch.length) {
    batch = randomBytes(BATCH_BYTES);
    used = 0;
  }
  used += bytes;
  return batch.subarray(used - bytes, used);
}
