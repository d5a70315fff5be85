/**
 * The headers of a frame: entries of key (i32), length (i32) and value, little-endian, kept as received bytes so
 * that their order is preserved. Readers follow OpenZiti: the last of equal keys wins, a wrong length counts as
 * absent.
 */
import { EMPTY_BYTES, isShortAscii, textOf, utf8, writeAscii } from '#base';

const ENTRY_HEAD_BYTES = 8;

export class FrameHeaders {
  static readonly empty = new FrameHeaders(EMPTY_BYTES);

  /** The encoded entries, already checked by `checkHeaderBytes` or made by `HeaderWriter`. */
  readonly raw: Uint8Array;

  constructor(raw: Uint8Array) {
    this.raw = raw;
  }

  bytes(key: number): Uint8Array | undefined {
    const { raw } = this;
    const at = this.#find(key);
    if (at < 0) return undefined;
    return raw.subarray(at + ENTRY_HEAD_BYTES, at + ENTRY_HEAD_BYTES + readU32(raw, at + 4));
  }

  has(key: number): boolean {
    return this.#find(key) >= 0;
  }

  /** True if and only if the first byte is 1. */
  bool(key: number): boolean {
    return this.u8(key) === 1;
  }

  u8(key: number): number | undefined {
    const at = this.#find(key);
    return at < 0 || readU32(this.raw, at + 4) < 1 ? undefined : this.raw[at + ENTRY_HEAD_BYTES];
  }

  u16(key: number): number | undefined {
    const { raw } = this;
    const at = this.#findOf(key, 2);
    return at < 0 ? undefined : raw[at]! | (raw[at + 1]! << 8);
  }

  u32(key: number): number | undefined {
    const at = this.#findOf(key, 4);
    return at < 0 ? undefined : readU32(this.raw, at);
  }

  i32(key: number): number | undefined {
    const value = this.u32(key);
    return value === undefined ? undefined : value | 0;
  }

  u64(key: number): bigint | undefined {
    const { raw } = this;
    const at = this.#findOf(key, 8);
    return at < 0 ? undefined : BigInt(readU32(raw, at)) | (BigInt(readU32(raw, at + 4)) << 32n);
  }

  text(key: number): string | undefined {
    const value = this.bytes(key);
    return value === undefined ? undefined : textOf(value);
  }

  /** Key and value of each entry, in wire order. Keys are unsigned numbers. */
  *entries(): Generator<readonly [key: number, value: Uint8Array]> {
    const { raw } = this;
    for (let at = 0; at + ENTRY_HEAD_BYTES <= raw.length;) {
      const length = readU32(raw, at + 4);
      const start = at + ENTRY_HEAD_BYTES;
      yield [readU32(raw, at), raw.subarray(start, start + length)];
      at = start + length;
    }
  }

  /** Returns where the entry begins; -1 if there is none. */
  #find(key: number): number {
    const { raw } = this;
    let found = -1;
    for (let at = 0; at + ENTRY_HEAD_BYTES <= raw.length; at += ENTRY_HEAD_BYTES + readU32(raw, at + 4)) {
      if (readU32(raw, at) === key >>> 0) found = at;
    }
    return found;
  }

  /** Returns where the value begins; -1 if there is none of that length. */
  #findOf(key: number, length: number): number {
    const at = this.#find(key);
    return at < 0 || readU32(this.raw, at + 4) !== length ? -1 : at + ENTRY_HEAD_BYTES;
  }
}

/**
 * Collects header entries in the order of the calls. `build` writes numbers and texts of ASCII straight into the result,
 * because an array for each of them costs more than the rest.
 */
export class HeaderWriter {
  /** Key, number of bytes and value of each entry; the key `COPIED` stands for whole entries. */
  readonly #entries: (number | string | Uint8Array)[] = [];
  #bytes = 0;

  bytes(key: number, value: Uint8Array): this {
    return this.#add(key, value.length, value);
  }

  bool(key: number, value: boolean): this {
    return this.#add(key, 1, value ? 1 : 0);
  }

  u8(key: number, value: number): this {
    return this.#add(key, 1, value);
  }

  u16(key: number, value: number): this {
    return this.#add(key, 2, value);
  }

  /** Also for i32, which has the same bit pattern. */
  u32(key: number, value: number): this {
    return this.#add(key, 4, value);
  }

  u64(key: number, value: bigint): this {
    const bytes = new Uint8Array(8);
    writeU32(bytes, 0, Number(value & 0xffffffffn));
    writeU32(bytes, 4, Number((value >> 32n) & 0xffffffffn));
    return this.bytes(key, bytes);
  }

  text(key: number, value: string): this {
    return isShortAscii(value) ? this.#add(key, value.length, value) : this.bytes(key, utf8(value));
  }

  /** Copies the entries of another frame. */
  copy({ raw }: FrameHeaders): this {
    this.#entries.push(COPIED, raw.length, raw);
    this.#bytes += raw.length;
    return this;
  }

  build(): FrameHeaders {
    if (this.#bytes === 0) return FrameHeaders.empty;
    const entries = this.#entries;
    const raw = new Uint8Array(this.#bytes);
    let at = 0;
    for (let i = 0; i < entries.length; i += 3) {
      const key = entries[i] as number;
      const length = entries[i + 1] as number;
      const value = entries[i + 2]!;
      if (key !== COPIED) {
        writeU32(raw, at, key);
        writeU32(raw, at + 4, length);
        at += ENTRY_HEAD_BYTES;
      }
      if (typeof value === 'number') writeNumber(raw, at, value, length);
      else if (typeof value === 'string') writeAscii(raw, at, value);
      else raw.set(value, at);
      at += length;
    }
    return new FrameHeaders(raw);
  }

  #add(key: number, length: number, value: number | string | Uint8Array): this {
    this.#entries.push(key, length, value);
    this.#bytes += ENTRY_HEAD_BYTES + length;
    return this;
  }
}

/** No key of an entry, which has 32 bits. */
const COPIED = -0x1_0000_0000;

/** Returns false if an entry overruns the bytes, which is a fatal framing error. */
export function checkHeaderBytes(bytes: Uint8Array, start = 0, end = bytes.length): boolean {
  let at = start;
  while (at < end) {
    if (at + ENTRY_HEAD_BYTES > end) return false;
    const length = readU32(bytes, at + 4);
    if (length > end - at - ENTRY_HEAD_BYTES) return false;
    at += ENTRY_HEAD_BYTES + length;
  }
  return true;
}

export function readU32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
}

export function writeU32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value & 0xff;
  bytes[at + 1] = (value >>> 8) & 0xff;
  bytes[at + 2] = (value >>> 16) & 0xff;
  bytes[at + 3] = (value >>> 24) & 0xff;
}

/** Writes the lowest bytes of `value`. */
function writeNumber(bytes: Uint8Array, at: number, value: number, length: number): void {
  for (let i = 0; i < length; i += 1) bytes[at + i] = (value >>> (8 * i)) & 0xff;
}
