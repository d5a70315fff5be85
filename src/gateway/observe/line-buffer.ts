/**
 * Lines of text put together byte by byte in one buffer after the other: on the path of every request, where joining
 * strings costs several times as much and leaves all of them to the collector. Plain mutable class for that reason.
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
  /** Where what was not handed over yet begins. */
  #from = 0;
  /** Where the line in the making begins. */
  #lineAt = 0;
  #at = 0;
  #lines = 0;

  /** `take` gets whole lines, and keeps the view. */
  constructor(take: (piece: Buffer, lines: number) => void) {
    this.#take = take;
  }

  /** ASCII, as it is. */
  text(text: string): void {
    const { length } = text;
    this.#ensure(length);
    const bytes = this.#bytes;
    let at = this.#at;
    for (let i = 0; i < length; i += 1) bytes[at++] = text.charCodeAt(i);
    this.#at = at;
  }

  /** Any text, as a string of JSON. */
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

  /** A whole number. */
  number(value: number): void {
    this.#ensure(20);
    if (value < 0) this.#bytes[this.#at++] = MINUS;
    this.#digits(Math.abs(value));
  }

  /** With three decimals. */
  decimals(value: number): void {
    this.#ensure(24);
    const thousandths = Math.max(0, Math.round(value * 1_000));
    const whole = Math.floor(thousandths / 1_000);
    this.#digits(whole);
    this.#bytes[this.#at++] = DOT;
    this.threeDigits(thousandths - whole * 1_000);
  }

  /** Of a number below 1000. */
  threeDigits(value: number): void {
    this.#ensure(3);
    const bytes = this.#bytes;
    bytes[this.#at++] = ZERO + Math.floor(value / 100);
    bytes[this.#at++] = ZERO + (Math.floor(value / 10) % 10);
    bytes[this.#at++] = ZERO + (value % 10);
  }

  /** The line is whole, its line feed included. */
  endLine(): void {
    this.#lineAt = this.#at;
    this.#lines += 1;
  }

  /** Hands over the whole lines. */
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
