/** Limits the memory that each identity uses outside of circuits: its binds, and its dials with pending answers. */

import { keptBytes, type Log } from '#base';
import { FrameHeaders, type Frame } from '#wire';

/** The longest tokens of OpenZiti have a few thousand bytes. */
const MAX_TOKEN_BYTES = 32 * 1024;
/** Overhead of a bind or dial in bytes, in addition to its own data. */
const RECORD_COST_BYTES = 1_024;
/** Limit for one identity, in bytes: some ten thousand binds. */
const MAX_BYTES = 32 * 1024 * 1024;

export class IdentityMemory {
  readonly #maxBytes: number;
  readonly #held = new Map<string, number>();

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** Returns false, and reserves nothing, if the identity would exceed its limit. */
  take(identityId: string, bytes: number): boolean {
    const held = (this.#held.get(identityId) ?? 0) + bytes;
    if (held > this.#maxBytes) return false;
    this.#held.set(identityId, held);
    return true;
  }

  giveBack(identityId: string, bytes: number): void {
    const held = (this.#held.get(identityId) ?? 0) - bytes;
    if (held > 0) this.#held.set(identityId, held);
    else this.#held.delete(identityId);
  }
}

/** Reserves the memory of a bind or dial, by `costOf`. Returns the reason of a refusal, or undefined. */
export function memoryFault(
  frame: Frame,
  identityId: string,
  memory: IdentityMemory,
  log: Log,
): string | undefined {
  if (frame.body.length > MAX_TOKEN_BYTES) return 'the token is too long';
  if (memory.take(identityId, costOf(frame))) return undefined;
  log.warn({ identity: identityId }, 'too many binds and dials of one identity');
  return 'too many binds and dials';
}

/** Copies a frame that is kept out of the larger buffer that it was read into. */
export function keptFrame(frame: Frame): Frame {
  return { ...frame, headers: new FrameHeaders(keptBytes(frame.headers.raw)), body: keptBytes(frame.body) };
}

/** The token is stored both as bytes and as text. */
export function costOf({ headers, body }: Frame): number {
  return RECORD_COST_BYTES + headers.raw.length + 2 * body.length;
}
