/**
 * Splits a byte stream into lines of UTF-8 text with a limit for their length. It keeps at most one unfinished
 * line. A line over the limit makes the decoder overflow permanently, and its owner closes the stream.
 */
import { concatBytes, textOf } from '#base';

const LINE_FEED = 0x0a;

export class LineDecoder {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #length = 0;
  #overflowed = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get overflowed(): boolean {
    return this.#overflowed;
  }

  /** Returns the lines that these bytes complete, without their line feed; an empty list if there is none. */
  push(bytes: Uint8Array): string[] {
    const lines: string[] = [];
    let start = 0;
    while (!this.#overflowed) {
      const end = bytes.indexOf(LINE_FEED, start);
      const part = bytes.subarray(start, end === -1 ? bytes.length : end);
      if (this.#length + part.length > this.#maxBytes) {
        this.#overflowed = true;
        this.#parts = [];
        break;
      }
      if (part.length > 0) this.#parts.push(part.slice());
      this.#length += part.length;
      if (end === -1) break;
      lines.push(textOf(concatBytes(this.#parts)));
      this.#parts = [];
      this.#length = 0;
      start = end + 1;
    }
    return lines;
  }
}
