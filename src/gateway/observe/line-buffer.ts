/**
 * Composes lines of text byte by byte in buffers. It runs for every request; joining strings would cost several
 * times as much and leave all of them to the garbage collector. A plain mutable class for that reason.
 */
const PIECE_BYTES = 65_536;
const QUOTE = 34;
const BACKSLASH = 92;
const MINUS = 45;
const DOT = 46;
const ZERO = 48;

export class LineBuffer {
  readonly #take: (piece: Buffer, lines: number) => void;
  #bytes = Buffer.allocUnsafe(PIECE_BYTES);
  /** Start of the bytes that were not handed over yet. */
  #from = 0;
  /** Start of the current line. */
  #lineAt = 0;
  #at = 0;
  #lines = 0;

  /** `take` receives whole lines, and keeps the view. */
  constructor(take: (piece: Buffer, lines: number) => void) {
    this.#take = take;
  }

  /** Adds ASCII text unchanged. */
  text(text: string): void {
    const { length } = text;
    this.#ensure(length);
    const bytes = this.#bytes;
    let at = this.#at;
    for (let i = 0; i < length; i += 1) bytes[at++] = text.charCodeAt(i);
    this.#at = at;
  }

  /** Adds any text as a JSON string. */
  quoted(text: string): void {
    const { length } = text;
    this.#ensure(length + 2);
    const bytes = this.#bytes;
    let at = this.#at;
    bytes[at++] = QUOTE;
    for (let i = 0; i < length; i += 1) {
      const code = text.charCodeAt(i);
      if (code < 32 || code > 126 || code === QUOTE || code === BACKSLASH) {
        this.#escaped(JSON.stringify(text));
        return;
      }
      bytes[at++] = code;
    }
    bytes[at++] = QUOTE;
    this.#at = at;
  }

  /** Adds a whole number. */
  number(value: number): void {
    this.#ensure(20);
    if (value < 0) this.#bytes[this.#at++] = MINUS;
    this.#digits(Math.abs(value));
  }

  /** Adds a number with three decimals. */
  decimals(value: number): void {
    this.#ensure(24);
    const thousandths = Math.max(0, Math.round(value * 1_000));
    const whole = Math.floor(thousandths / 1_000);
    this.#digits(whole);
    this.#bytes[this.#at++] = DOT;
    this.threeDigits(thousandths - whole * 1_000);
  }

  /** Adds the digits of a number below 1000. */
  threeDigits(value: number): void {
    this.#ensure(3);
    const bytes = this.#bytes;
    bytes[this.#at++] = ZERO + Math.floor(value / 100);
    bytes[this.#at++] = ZERO + (Math.floor(value / 10) % 10);
    bytes[this.#at++] = ZERO + (value % 10);
  }

  /** Ends the line with a line feed. */
  endLine(): void {
    this.#lineAt = this.#at;
    this.#lines += 1;
  }

  /** Hands over the complete lines. */
  flush(): void {
    if (this.#lines === 0) return;
    const lines = this.#lines;
    this.#lines = 0;
    const piece = this.#bytes.subarray(this.#from, this.#lineAt);
    this.#from = this.#lineAt;
    this.#take(piece, lines);
  }

  #digits(value: number): void {
    const bytes = this.#bytes;
    let end = this.#at + 1;
    for (let left = value; left >= 10; left = Math.floor(left / 10)) end += 1;
    let left = value;
    for (let at = end - 1; at >= this.#at; at -= 1) {
      const next = Math.floor(left / 10);
      bytes[at] = ZERO + (left - next * 10);
      left = next;
    }
    this.#at = end;
  }

  #escaped(json: string): void {
    this.#ensure(3 * json.length);
    this.#at += this.#bytes.write(json, this.#at, 'utf8');
  }

  #ensure(count: number): void {
    if (this.#at + count <= this.#bytes.length) return;
    this.flush();
    const begun = this.#bytes.subarray(this.#lineAt, this.#at);
    this.#bytes = Buffer.allocUnsafe(Math.max(PIECE_BYTES, 2 * (begun.length + count)));
    begun.copy(this.#bytes);
    this.#from = 0;
    this.#lineAt = 0;
    this.#at = begun.length;
  }
}
