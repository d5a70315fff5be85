import { randomBytes } from 'node:crypto';
import { base62 } from '#base';
import { CIRCUIT_ID_CHARACTERS } from '#wire';

/** 25 characters of base 62. */
const RANDOM_BYTES = 18;

/** Returns the random id of a new circuit. */
export function newCircuitId(): string {
  return base62(randomBytes(RANDOM_BYTES)).padStart(CIRCUIT_ID_CHARACTERS, '0');
}
