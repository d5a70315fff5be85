/**
 * Collects the bytes of one head until it is complete. A head in one piece, the common case, is decoded in place;
 * only a head in several pieces is copied, into a buffer that grows with the received data.
 */
import type { MessageRefusal } from '#domain';
import {
  HEAD_BARE_LINE_FEED,
  HEAD_FIRST_LINE_TOO_LONG,
  HEAD_INCOMPLETE,
  HEAD_TOO_LARGE,
  HeadScanner,
} from './head-decoder.ts';

/** Takes the number of bytes that an unfinished head holds, and returns false if there is no room for them. */
export type HeadAccount = (heldBytes: number) => boolean;

export interface HeadBufferOptions {
  readonly account?: HeadAccount;
  /** For responses only: heads may have the forms of `lenient-head.ts`. */
  readonly isLenient?: boolean | undefined;
}

export class HeadBuffer {
  /**
   * The head as Latin-1 text after `push` returned true, or the received part of a head that is too large; ''
   * before.
   */
  text = '';
  /** Bytes that followed the head in the last piece. */
  rest: Buffer | undefined;
  /** After `push` returned true: why there is no head, or undefined if there is one. */
  refusal: MessageRefusal | undefined;
  readonly isLenient: boolean;
  /** Whether a head had one of the lenient forms. */
  hadObsolete = false;
  readonly #scanner: HeadScanner;
  readonly #maxBytes: number;
  readonly #account: HeadAccount | undefined;
  #held: Buffer | undefined;
  #heldBytes = 0;

  constructor(
    maxBytes: number,
    maxFirstLineBytes: number,
    { account, isLenient = false }: HeadBufferOptions = {},
  ) {
    this.#maxBytes = maxBytes;
    this.#account = account;
    this.isLenient = isLenient;
    this.#scanner = new HeadScanner(maxBytes, maxFirstLineBytes, isLenient);
  }

  /** Whether a part of a head has arrived. */
  get isPartial(): boolean {
    return this.#heldBytes > 0;
  }

  /** Returns true if the head is complete or refused, false if more bytes are needed. */
  push(piece: Buffer): boolean {
    const before = this.#heldBytes;
    const bytes = before === 0 ? piece : this.#append(piece);
    const length = before + piece.length;
    const end = this.#scanner.scan(bytes, length);
    if (end === HEAD_INCOMPLETE) {
      if (before === 0) {
        this.#held = piece;
        this.#heldBytes = piece.length;
      }
      if (this.#account?.(this.#held!.length) !== false) return false;
      this.clear();
      this.refusal = 'too-many-heads';
      return true;
    }
    if (before > 0) this.#drop();
    this.#scanner.reset();
    this.refusal = undefined;
    this.rest = undefined;
    if (end > 0) {
      this.text = bytes.toString('latin1', 0, end);
      if (end < length) this.rest = piece.subarray(end - before);
      return true;
    }
    this.text = end === HEAD_TOO_LARGE ? bytes.toString('latin1', 0, Math.min(length, this.#maxBytes)) : '';
    if (end === HEAD_BARE_LINE_FEED) this.refusal = 'bare-line-feed';
    else this.refusal = end === HEAD_FIRST_LINE_TOO_LONG ? 'target-too-long' : 'head-too-large';
    return true;
  }

  /** Drops a partial head, and the text of the last one. */
  clear(): void {
    this.#scanner.reset();
    this.text = '';
    this.rest = undefined;
    this.refusal = undefined;
    if (this.#heldBytes > 0) this.#drop();
  }

  #drop(): void {
    this.#held = undefined;
    this.#heldBytes = 0;
    this.#account?.(0);
  }

  #append(piece: Buffer): Buffer {
    const held = this.#held!;
    const needed = this.#heldBytes + piece.length;
    let target = held;
    if (needed > held.length || this.#heldBytes === held.length) {
      const room = Math.min(2 * needed, this.#maxBytes);
      target = Buffer.allocUnsafe(Math.max(1024, needed, room));
      held.copy(target, 0, 0, this.#heldBytes);
      this.#held = target;
    }
    piece.copy(target, this.#heldBytes);
    this.#heldBytes = needed;
    return target;
  }
}

/** Returns a Buffer over the same memory. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
