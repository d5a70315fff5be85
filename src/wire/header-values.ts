/**
 * Composite header values: string lists, maps from u32 to bytes, maps from string to string, capability masks.
 * Decoders return undefined for malformed values or values over OpenZiti's limits (128 entries, 8,192 bytes
 * each).
 */
import { textOf, utf8 } from '#base';
import { readU32, writeU32 } from './frame-headers.ts';

const MAX_ENTRIES = 128;
const MAX_ENTRY_BYTES = 8_192;

export function encodeTextList(items: readonly string[]): Uint8Array {
  if (items.length === 0) return new Uint8Array(0);
  const writer = new Writer(items.length);
  for (const item of items) writer.sized(utf8(item));
  return writer.build();
}

export function decodeTextList(bytes: Uint8Array): string[] | undefined {
  if (bytes.length === 0) return [];
  const reader = new Reader(bytes);
  const items: string[] = [];
  const count = reader.count();
  for (let i = 0; i < count; i += 1) items.push(textOf(reader.sized()));
  return reader.isWhole ? items : undefined;
}

export function encodeBytesMap(map: ReadonlyMap<number, Uint8Array>): Uint8Array {
  const writer = new Writer(map.size);
  for (const [key, value] of map) writer.u32(key).sized(value);
  return writer.build();
}

export function decodeBytesMap(bytes: Uint8Array): Map<number, Uint8Array> | undefined {
  const map = new Map<number, Uint8Array>();
  if (bytes.length === 0) return map;
  const reader = new Reader(bytes);
  const count = reader.count();
  for (let i = 0; i < count; i += 1) map.set(reader.u32(), reader.sized());
  return reader.isWhole ? map : undefined;
}

export function encodeTextMap(map: ReadonlyMap<string, string>): Uint8Array {
  const writer = new Writer(map.size);
  for (const [key, value] of map) writer.sized(utf8(key)).sized(utf8(value));
  return writer.build();
}

export function decodeTextMap(bytes: Uint8Array): Map<string, string> | undefined {
  const map = new Map<string, string>();
  if (bytes.length === 0) return map;
  const reader = new Reader(bytes);
  const count = reader.count();
  for (let i = 0; i < count; i += 1) map.set(textOf(reader.sized()), textOf(reader.sized()));
  return reader.isWhole ? map : undefined;
}

/** A big-endian number of minimal length whose bit n stands for capability n. */
export function encodeCapabilities(capabilities: readonly number[]): Uint8Array {
  let mask = 0n;
  for (const capability of capabilities) mask |= 1n << BigInt(capability);
  const bytes: number[] = [];
  for (; mask > 0n; mask >>= 8n) bytes.unshift(Number(mask & 0xffn));
  return Uint8Array.from(bytes);
}

export function hasCapability(mask: Uint8Array | undefined, capability: number): boolean {
  if (mask === undefined) return false;
  const byte = mask[mask.length - 1 - (capability >> 3)];
  return byte !== undefined && ((byte >> (capability & 7)) & 1) === 1;
}

/** Collects numbers and values with their lengths behind the number of entries, and writes them into one array. */
class Writer {
  readonly #parts: (number | Uint8Array)[] = [];
  #bytes = 0;

  constructor(count: number) {
    this.u32(count);
  }

  u32(value: number): this {
    this.#parts.push(value);
    this.#bytes += 4;
    return this;
  }

  sized(value: Uint8Array): this {
    this.#parts.push(value.length, value);
    this.#bytes += 4 + value.length;
    return this;
  }

  build(): Uint8Array {
    const bytes = new Uint8Array(this.#bytes);
    let at = 0;
    for (const part of this.#parts) {
      if (typeof part === 'number') writeU32(bytes, at, part);
      else bytes.set(part, at);
      at += typeof part === 'number' ? 4 : part.length;
    }
    return bytes;
  }
}

/** Returns empty values after a fault; `isWhole` reports it at the end. */
class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;
  #failed = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isWhole(): boolean {
    return !this.#failed && this.#at === this.#bytes.length;
  }

  count(): number {
    const count = this.u32();
    if (count > MAX_ENTRIES) this.#failed = true;
    return this.#failed ? 0 : count;
  }

  u32(): number {
    if (this.#failed || this.#at + 4 > this.#bytes.length) {
      this.#failed = true;
      return 0;
    }
    this.#at += 4;
    return readU32(this.#bytes, this.#at - 4);
  }

  sized(): Uint8Array {
    const length = this.u32();
    if (this.#failed || length > MAX_ENTRY_BYTES || this.#at + length > this.#bytes.length) {
      this.#failed = true;
      return this.#bytes.subarray(0, 0);
    }
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}
