/**
 * Circuit ids as they stand in frames: base 62, one byte a character. The frames of a circuit repeat its id, so the
 * text is made once and found again by its bytes: a fresh string for each frame would be hashed for each look-up too.
 */

const MAX_CIRCUIT_ID_BYTES = 64;
/** A power of two. An id that falls on another's place takes it. */
const PLACES = 1024;
const known: string[] = Array.from({ length: PLACES }, () => '');

/** Empty when it is longer than any id may be. */
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
