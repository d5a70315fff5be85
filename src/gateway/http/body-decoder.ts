/**
 * Follows one message body by its framing and reports the runs of data as positions in the given bytes, without
 * copying. Chunked framing is checked here and never forwarded; extensions are dropped. Mutable on
 * purpose: one object per message on the hot path. RFC 9112 §6 and §7, without leniency.
 */
import { IS_TOKEN } from './field-name-table.ts';
import { MAX_TRAILER_BYTES, MAX_TRAILERS } from './trailer-policy.ts';

/** There is no body. */
export const BODY_NONE = 0;
export const BODY_LENGTH = 1;
export const BODY_CHUNKED = 2;
/** The body continues until the far end closes. */
export const BODY_UNTIL_END = 3;

export interface BodySink {
  /** Reports data of the body: `bytes` from `start` to `end`. */
  bodyRun(bytes: Uint8Array, start: number, end: number): void;
}

const SIZE = 0;
const EXTENSION = 1;
const SIZE_LF = 2;
const DATA = 3;
const DATA_CR = 4;
const DATA_LF = 5;
const TRAILER_START = 6;
const TRAILER = 7;
const TRAILER_LF = 8;
const LAST_LF = 9;
const TRAILER_VALUE = 10;

const CR = 13;
const LF = 10;
const COLON = 58;
const MAX_SIZE_DIGITS = 12;
const MAX_EXTENSION_BYTES = 256;

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

export class BodyDecoder {
  readonly mode: number;
  done: boolean;
  /** Whether the chunked framing is broken, so that nothing after it can be trusted. */
  malformed = false;
  /** Number of data bytes so far. */
  dataBytes = 0;
  /** Whether `trailers` is filled. */
  keepsTrailers = false;
  /** The lines of the trailers, each with its line end. They are well-formed once the body is done. */
  trailers = '';
  #left: number;
  #state = SIZE;
  #digits = 0;
  #overhead = 0;
  #trailerCount = 0;

  constructor(mode: number, length = 0) {
    this.mode = mode;
    this.#left = mode === BODY_LENGTH ? length : 0;
    this.done = mode === BODY_NONE || (mode === BODY_LENGTH && length === 0);
  }

  /** Returns the position of the first byte after the body, or the end of `bytes` if the body continues. */
  decode(bytes: Uint8Array, from: number, sink: BodySink): number {
    if (this.done || this.malformed) return from;
    if (this.mode === BODY_CHUNKED) return this.#chunked(bytes, from, sink);
    let end = bytes.length;
    if (this.mode === BODY_LENGTH) {
      end = Math.min(end, from + this.#left);
      this.#left -= end - from;
      this.done = this.#left === 0;
    }
    if (end > from) {
      this.dataBytes += end - from;
      sink.bodyRun(bytes, from, end);
    }
    return end;
  }

  /** The far end closed. Returns whether that completes the body. */
  end(): boolean {
    if (this.mode === BODY_UNTIL_END) this.done = true;
    return this.done;
  }

  #chunked(bytes: Uint8Array, from: number, sink: BodySink): number {
    let i = from;
    while (i < bytes.length) {
      if (this.#state === DATA) {
        const end = Math.min(bytes.length, i + this.#left);
        this.#left -= end - i;
        this.dataBytes += end - i;
        if (this.#left === 0) this.#state = DATA_CR;
        sink.bodyRun(bytes, i, end);
        i = end;
        continue;
      }
      this.#step(bytes[i]!);
      i += 1;
      if (this.malformed || this.done) break;
    }
    return i;
  }

  #step(code: number): void {
    switch (this.#state) {
      case SIZE: {
        const digit = hexDigit(code);
        if (digit >= 0 && this.#digits < MAX_SIZE_DIGITS) {
          this.#left = this.#left * 16 + digit;
          this.#digits += 1;
        } else if (this.#digits > 0 && code === CR) this.#state = SIZE_LF;
        else if (this.#digits > 0 && code === 59) this.#state = EXTENSION;
        else this.malformed = true;
        return;
      }
      case EXTENSION:
        this.#overhead += 1;
        if (code === CR) this.#state = SIZE_LF;
        else if (code < 32 || code === 127 || this.#overhead > MAX_EXTENSION_BYTES) this.malformed = true;
        return;
      case SIZE_LF:
        this.#digits = 0;
        this.#overhead = 0;
        this.#state = this.#left === 0 ? TRAILER_START : DATA;
        if (code !== LF) this.malformed = true;
        return;
      case DATA_CR:
        this.#state = DATA_LF;
        if (code !== CR) this.malformed = true;
        return;
      case DATA_LF:
        this.#state = SIZE;
        if (code !== LF) this.malformed = true;
        return;
      case TRAILER_START:
        if (code === CR) this.#state = LAST_LF;
        else if (IS_TOKEN[code] === 0 || this.#trailerCount === MAX_TRAILERS) this.malformed = true;
        else {
          this.#trailerCount += 1;
          this.#trailerByte(TRAILER, code);
        }
        return;
      case TRAILER:
        if (code === COLON) this.#trailerByte(TRAILER_VALUE, code);
        else if (IS_TOKEN[code] === 0) this.malformed = true;
        else this.#trailerByte(TRAILER, code);
        return;
      case TRAILER_VALUE:
        if (code === CR) this.#state = TRAILER_LF;
        else if ((code < 32 && code !== 9) || code === 127) this.malformed = true;
        else this.#trailerByte(TRAILER_VALUE, code);
        return;
      case TRAILER_LF:
        this.#state = TRAILER_START;
        if (code !== LF) this.malformed = true;
        else if (this.keepsTrailers) this.trailers += '\r\n';
        return;
      default:
        if (code === LF) this.done = true;
        else this.malformed = true;
    }
  }

  #trailerByte(state: number, code: number): void {
    this.#state = state;
    if (this.keepsTrailers) this.trailers += String.fromCharCode(code);
    this.#overhead += 1;
    if (this.#overhead > MAX_TRAILER_BYTES) this.malformed = true;
  }
}
