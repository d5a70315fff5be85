/**
 * Circuit ids in frames: base 62, one byte per character. All frames of a circuit repeat its id, so its text is
 * cached by its bytes; a fresh string per frame would also be hashed for each look-up.
 */

/**
 * Length of the ids that our control plane makes. With the head of a payload frame from a host to its dialer, it leaves a
 * multiple of 8 bytes of a TLS record of 16 KiB, which is the length that is sealed fastest. So each long frame of an encrypted
 * circuit is one record, and no hop joins parts of frames.
 */
export const CIRCUIT_ID_CHARACTERS = 25;

const MAX_CIRCUIT_ID_BYTES = 64;
/** A power of two. An id replaces another one in the same place. */
const PLACES = 1024;
const known: string[] = Array.from({ length: PLACES }, () => '');

/** Returns an empty text if the id is longer than any valid one. */
export function decodeCircuitId(bytes: Uint8Array, start: number, length: number): string {
  if (length > MAX_CIRCUIT_ID_BYTES) return '';
  let hash = length;
  for (let i = start; i < start + length; i += 1) hash = (Math.imul(hash, 31) + bytes[i]!) | 0;
  const place = (hash ^ (hash >>> 10)) & (PLACES - 1);
  const found = known[place]!;
  if (isText(found, bytes, start, length)) return found;
  const text = String.fromCharCode(...bytes.subarray(start, start + length));
  known[place] = text;
  return text;
}

function isText(text: string, bytes: Uint8Array, start: number, length: number): boolean {
  if (text.length !== length) return false;
  for (let i = 0; i < length; i += 1) if (text.charCodeAt(i) !== bytes[start + i]) return false;
  return true;
}
