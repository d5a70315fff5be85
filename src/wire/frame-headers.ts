/**
 * The headers of a frame: entries of key (i32), length (i32) and value, little-endian, kept as received bytes so
 * that their order is preserved. Readers follow OpenZiti: the last of equal keys wins, a wrong length counts as
 * absent.
 */
import { concatBytes, EMPTY_BYTES, textOf, utf8 } from '#base';

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
    let found = -1;
    for (let at = 0; at + ENTRY_HEAD_BYTES <= raw.length; at += ENTRY_HEAD_BYTES + readU32(raw, at + 4)) {
      if (readU32(raw, at) === key >>> 0) found = at;
    }
    if (found < 0) return undefined;
    return raw.subarray(found + ENTRY_HEAD_BYTES, found + ENTRY_HEAD_BYTES + readU32(raw, found + 4));
  }

  has(key: number): boolean {
    return this.bytes(key) !== undefined;
  }

  /** True if and only if the first byte is 1. */
  bool(key: number): boolean {
    return this.bytes(key)?.[0] === 1;
  }

  u8(key: number): number | undefined {
    const value = this.bytes(key);
    return value === undefined || value.length < 1 ? undefined : value[0];
  }

  u16(key: number): number | undefined {
    const value = this.bytes(key);
    return value?.length === 2 ? value[0]! | (value[1]! << 8) : undefined;
  }

  u32(key: number): number | undefined {
    const value = this.bytes(key);
    return value?.length === 4 ? readU32(value, 0) : undefined;
  }

  i32(key: number): number | undefined {
    const value = this.u32(key);
    return value === undefined ? undefined : value | 0;
  }

  u64(key: number): bigint | undefined {
    const value = this.bytes(key);
    if (value?.length !== 8) return undefined;
    return BigInt(readU32(value, 0)) | (BigInt(readU32(value, 4)) << 32n);
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
}

/** Collects header entries in the order of the calls. */
export class HeaderWriter {
  readonly #parts: Uint8Array[] = [];

  bytes(key: number, value: Uint8Array): this {
    const head = new Uint8Array(ENTRY_HEAD_BYTES);
    writeU32(head, 0, key);
    writeU32(head, 4, value.length);
    this.#parts.push(head, value);
    return this;
  }

  bool(key: number, value: boolean): this {
    return this.bytes(key, Uint8Array.of(value ? 1 : 0));
  }

  u8(key: number, value: number): this {
    return this.bytes(key, Uint8Array.of(value));
  }

  u16(key: number, value: number): this {
    return this.bytes(key, Uint8Array.of(value & 0xff, (value >> 8) & 0xff));
  }

  /** Also for i32, which has the same bit pattern. */
  u32(key: number, value: number): this {
    const bytes = new Uint8Array(4);
    writeU32(bytes, 0, value);
    return this.bytes(key, bytes);
  }

  u64(key: number, value: bigint): this {
    const bytes = new Uint8Array(8);
    writeU32(bytes, 0, Number(value & 0xffffffffn));
    writeU32(bytes, 4, Number((value >> 32n) & 0xffffffffn));
    return this.bytes(key, bytes);
  }

  text(key: number, value: string): this {
    return this.bytes(key, utf8(value));
  }

  /** Copies the entries of another frame. */
  copy(headers: FrameHeaders): this {
    if (headers.raw.length > 0) this.#parts.push(headers.raw);
    return this;
  }

  build(): FrameHeaders {
    return this.#parts.length === 0 ? FrameHeaders.empty : new FrameHeaders(concatBytes(this.#parts));
  }
}

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
