/**
 * Finds the end of an HTTP/1.1 head in bytes that arrive in any pieces, and reads the header lines of a complete
 * head into offsets. It does not interpret headers. Plain mutable classes and number arrays, because this is the
 * hot path. Grammar: RFC 9112 §2 to §5, without its leniencies (no bare LF, no folding, no space before a colon);
 * a scanner for `lenient-head.ts` finds ends of lines without CR, too.
 */
import type { MessageRefusal } from '#domain';
import { fieldCode, IS_TOKEN, IS_VALUE } from './field-name-table.ts';

const LF = 10;
const CR = 13;
const COLON = 58;

export const HEAD_INCOMPLETE = 0;
export const HEAD_BARE_LINE_FEED = -1;
export const HEAD_FIRST_LINE_TOO_LONG = -2;
export const HEAD_TOO_LARGE = -3;

/** Finds the end of the head, across any number of calls over one growing buffer. */
export class HeadScanner {
  readonly #maxBytes: number;
  readonly #maxFirstLineBytes: number;
  readonly #isLenient: boolean;
  #position = 0;
  #lineStart = 0;
  #firstLineSeen = false;

  /** `isLenient`: a line may end with LF alone. */
  constructor(maxBytes: number, maxFirstLineBytes: number, isLenient = false) {
    this.#maxBytes = maxBytes;
    this.#maxFirstLineBytes = maxFirstLineBytes;
    this.#isLenient = isLenient;
  }

  reset(): void {
    this.#position = 0;
    this.#lineStart = 0;
    this.#firstLineSeen = false;
  }

  /**
   * `bytes` contains the head from its first byte, `length` bytes so far. A positive result is the length of the
   * head with its empty line; other results are the `HEAD_…` constants.
   */
  scan(bytes: Uint8Array, length: number): number {
    const stop = Math.min(length, this.#maxBytes);
    let lineStart = this.#lineStart;
    for (let i = this.#position; i < stop; i += 1) {
      if (bytes[i] !== LF) continue;
      if (i === 0 || bytes[i - 1] !== CR) {
        if (!this.#isLenient) return HEAD_BARE_LINE_FEED;
        if (i === lineStart && this.#firstLineSeen) return i + 1;
      } else if (i === lineStart + 1 && this.#firstLineSeen) return i + 1;
      if (!this.#firstLineSeen) {
        if (i - 1 > this.#maxFirstLineBytes) return HEAD_FIRST_LINE_TOO_LONG;
        this.#firstLineSeen = true;
      }
      lineStart = i + 1;
    }
    this.#lineStart = lineStart;
    this.#position = stop;
    if (!this.#firstLineSeen && stop > this.#maxFirstLineBytes) return HEAD_FIRST_LINE_TOO_LONG;
    return length >= this.#maxBytes ? HEAD_TOO_LARGE : HEAD_INCOMPLETE;
  }
}

/** The header lines of one head as offsets into its text. The object is reused from head to head. */
export class FieldLines {
  text = '';
  count = 0;
  readonly lineStart: number[] = [];
  readonly nameEnd: number[] = [];
  readonly valueStart: number[] = [];
  readonly valueEnd: number[] = [];
  /** Codes of `field-name-table.ts`. */
  readonly code: number[] = [];

  /** Reads the lines of `text` (Latin-1, CRLF line ends, with the empty line) from `start`. */
  decode(text: string, start: number, maxFields: number): MessageRefusal | undefined {
    this.text = text;
    this.count = 0;
    let at = start;
    let count = 0;
    const last = text.length - 2;
    while (at < last) {
      const first = text.charCodeAt(at);
      if (first === 32 || first === 9) return 'folded-field';
      if (count === maxFields) return 'too-many-fields';
      this.lineStart[count] = at;
      let i = at;
      while (IS_TOKEN[text.charCodeAt(i) & 0xff] === 1) i += 1;
      if (i === at || text.charCodeAt(i) !== COLON) return 'malformed-field';
      this.nameEnd[count] = i;
      this.code[count] = fieldCode(text, at, i);
      i += 1;
      while (text.charCodeAt(i) === 32 || text.charCodeAt(i) === 9) i += 1;
      this.valueStart[count] = i;
      while (IS_VALUE[text.charCodeAt(i) & 0xff] === 1) i += 1;
      if (text.charCodeAt(i) !== CR || text.charCodeAt(i + 1) !== LF) return 'control-byte';
      at = i + 2;
      while (i > this.valueStart[count]! && (text.charCodeAt(i - 1) === 32 || text.charCodeAt(i - 1) === 9))
        i -= 1;
      this.valueEnd[count] = i;
      count += 1;
    }
    this.lineStart[count] = at;
    this.count = count;
    return undefined;
  }

  name(index: number): string {
    return this.text.slice(this.lineStart[index], this.nameEnd[index]);
  }

  value(index: number): string {
    return this.text.slice(this.valueStart[index], this.valueEnd[index]);
  }
}
