/** What each identity makes a router remember beside circuits: binds that stand and dials that wait for their answer. */

import { keptBytes, type Log } from '#base';
import { FrameHeaders, type Frame } from '#wire';

/** The longest tokens of OpenZiti have a few thousand bytes. */
const MAX_TOKEN_BYTES = 32 * 1024;
/** Beside its own bytes, what a bind or a dial costs here. */
const RECORD_COST_BYTES = 1_024;
/** Limit for one identity, in bytes: some ten thousand binds. */
const MAX_BYTES = 32 * 1024 * 1024;

export class IdentityMemory {
  readonly #maxBytes: number;
  readonly #held = new Map<string, number>();

  constructor(maxBytes = MAX_BYTES) {
    this.#maxBytes = maxBytes;
  }

  /** False: it has too much already, and gets none of it. */
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

/** Why a bind or a dial may not be kept; undefined: it is counted from now on, with `costOf`. */
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

/** Copies a frame out of the read that brought it, when the frame is needed longer. */
export function keptFrame(frame: Frame): Frame {
  return { ...frame, headers: new FrameHeaders(keptBytes(frame.headers.raw)), body: keptBytes(frame.body) };
}

/** The token is kept as bytes and as text. */
export function costOf({ headers, body }: Frame): number {
  return RECORD_COST_BYTES + headers.raw.length + 2 * body.length;
}
