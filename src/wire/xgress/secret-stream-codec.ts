/**
 * Secret streams, as crypto_secretstream_xchacha20poly1305 of libsodium: sealed messages in an order. A message that
 * was changed, repeated or moved does not open, nor does one behind a missing message. A stream that ends early between
 * two messages is not detected here. Messages of 512 bytes or more use a native cipher if there is one.
 */
import { ChaCha20 } from '../chacha20.ts';
import { readU32, writeU32 } from '../frame-headers.ts';
import { MAC_BYTES, Poly1305 } from '../poly1305.ts';

export const STREAM_KEY_BYTES = 32;
/** The first message of each direction, random and in clear. */
export const STREAM_HEADER_BYTES = 24;
/** A sealed message is longer by the encrypted tag and the authentication code. */
export const STREAM_OVERHEAD_BYTES = 1 + MAC_BYTES;

/** Bits of a message's tag. `rekey`: both ends derive the next key behind this message. */
export const STREAM_TAGS = { message: 0, push: 1, rekey: 2, final: 3 } as const;

/** Native implementations of what this file does for short messages itself. */
export interface BulkCipher {
  /**
   * ChaCha20-Poly1305 (RFC 8439) without associated data, over `head` and `body` in a row. Returns a sealed message: the
   * first byte of the sealed head, the sealed body and the authentication code, in `into` of the same length, or in memory
   * of its own.
   */
  seal(
    key: Uint8Array,
    nonce: Uint8Array,
    head: Uint8Array,
    body: Uint8Array,
    into: Uint8Array | undefined,
  ): Uint8Array;
  /** Returns the text of `body`, or undefined if `code` is not that of `head` and `body`. */
  open(key: Uint8Array, nonce: Uint8Array, sealed: SealedParts): Uint8Array | undefined;
  /** ChaCha20 (RFC 8439) from the keystream's block `counter`. */
  xor(key: Uint8Array, nonce: Uint8Array, counter: number, data: Uint8Array): Uint8Array;
}

export interface SealedParts {
  readonly head: Uint8Array;
  readonly body: Uint8Array;
  readonly code: Uint8Array;
}

const BLOCK_BYTES = 64;
const WORD_BYTES = 4;
const NONCE_BYTES = 12;
/** Below, a native call costs more than the message: 10 µs, as own code takes for 512 bytes. */
const BULK_FROM_BYTES = 512;
const COUNTER_END = 2 ** 32;

/**
 * Messages whose length is a multiple of this are authenticated as RFC 8439 does, and cost a third of others: libsodium
 * pads to `length mod 16` bytes, not to whole blocks, which is the same for multiples of 8.
 */
export const FAST_MULTIPLE_BYTES = 8;

/** Memory that all streams use in turn: each use is over before the next one begins. */
const poly = new Poly1305();
const tail = new Uint8Array(2 * (MAC_BYTES - 1) + MAC_BYTES);
const expected = new Uint8Array(MAC_BYTES);

class StreamState {
  readonly key = new Uint8Array(STREAM_KEY_BYTES);
  /** The number of the message, from 1, and 8 bytes that depend on all messages before it. */
  readonly nonce = new Uint8Array(NONCE_BYTES);
  readonly bulk: BulkCipher | undefined;
  #cipher: ChaCha20;

  constructor(key: Uint8Array, header: Uint8Array, bulk: BulkCipher | undefined) {
    if (key.length !== STREAM_KEY_BYTES) throw new RangeError('a stream key has 32 bytes');
    if (header.length !== STREAM_HEADER_BYTES) throw new RangeError('a stream header has 24 bytes');
    const derived = new ChaCha20(wordsOf(key)).derive(
      readU32(header, 0),
      readU32(header, 4),
      readU32(header, 8),
      readU32(header, 12),
    );
    this.bulk = bulk;
    this.#cipher = this.#use(derived);
    this.nonce.set(header.subarray(16), 4);
  }

  /** Returns keystream of block `counter`: 16 words, valid until the next call. */
  block(counter: number): Uint32Array {
    const { nonce } = this;
    return this.#cipher.block(counter, readU32(nonce, 0), readU32(nonce, 4), readU32(nonce, 8));
  }

  /** Encrypts or decrypts `length` bytes from `data` into `out`. */
  xor(data: Uint8Array, from: number, length: number, out: Uint8Array, to: number): void {
    if (this.bulk !== undefined && length >= BULK_FROM_BYTES) {
      out.set(this.bulk.xor(this.key, this.nonce, 2, data.subarray(from, from + length)), to);
      return;
    }
    for (let at = 0; at < length; at += BLOCK_BYTES) {
      const block = this.block(2 + at / BLOCK_BYTES);
      const bytes = Math.min(BLOCK_BYTES, length - at);
      const wholeBytes = bytes - (bytes % WORD_BYTES);
      const source = from + at;
      const target = to + at;
      for (let index = 0; index < wholeBytes; index += WORD_BYTES) {
        writeU32(out, target + index, readU32(data, source + index) ^ block[index / WORD_BYTES]!);
      }
      for (let index = wholeBytes; index < bytes; index += 1) {
        out[target + index] = data[source + index]! ^ (block[index >> 2]! >>> ((index & 3) * 8));
      }
    }
  }

  /** Writes the code of an encrypted tag and `length` bytes of `data`, where native ciphers cannot make it. */
  writeCode(
    head: Uint8Array,
    data: Uint8Array,
    from: number,
    length: number,
    out: Uint8Array,
    to: number,
  ): void {
    poly.begin(this.block(0));
    poly.update(head, 0, BLOCK_BYTES);
    const rest = length % MAC_BYTES;
    const whole = from + length - rest;
    poly.update(data, from, whole);
    // The rest, libsodium's padding of as many bytes, no associated data, and the length.
    tail.fill(0);
    for (let index = 0; index < rest; index += 1) tail[index] = data[whole + index]!;
    const authenticated = BLOCK_BYTES + length;
    writeU32(tail, 2 * rest + 8, authenticated >>> 0);
    writeU32(tail, 2 * rest + 12, Math.floor(authenticated / COUNTER_END));
    poly.finish(tail, 2 * rest + MAC_BYTES, out, to);
  }

  mayUseAead(bytes: number): boolean {
    return this.bulk !== undefined && bytes >= BULK_FROM_BYTES && bytes % FAST_MULTIPLE_BYTES === 0;
  }

  /** After each message, whose code is in `sealed` at `codeAt`. */
  advance(sealed: Uint8Array, codeAt: number, tag: number): void {
    const { nonce } = this;
    for (let index = 0; index < 8; index += 1) nonce[4 + index]! ^= sealed[codeAt + index]!;
    const counter = (readU32(nonce, 0) + 1) % COUNTER_END;
    writeU32(nonce, 0, counter);
    if ((tag & STREAM_TAGS.rekey) !== 0 || counter === 0) this.#rekey();
  }

  #rekey(): void {
    const block = this.block(0);
    const words = wordsOf(this.key);
    for (let word = 0; word < 8; word += 1) words[word]! ^= block[word]!;
    const { nonce } = this;
    writeU32(nonce, 4, (readU32(nonce, 4) ^ block[8]!) >>> 0);
    writeU32(nonce, 8, (readU32(nonce, 8) ^ block[9]!) >>> 0);
    this.#cipher = this.#use(words);
  }

  #use(words: Uint32Array): ChaCha20 {
    for (let word = 0; word < 8; word += 1) writeU32(this.key, word * 4, words[word]!);
    writeU32(this.nonce, 0, 1);
    return new ChaCha20(words);
  }
}

/** The sending end. `header`: 24 random bytes, used once with this key, which the far end gets first. */
export class SecretStreamPush {
  readonly #state: StreamState;
  readonly #head = new Uint8Array(BLOCK_BYTES);

  constructor(key: Uint8Array, header: Uint8Array, bulk?: BulkCipher) {
    this.#state = new StreamState(key, header, bulk);
  }

  /** Returns the sealed message, `STREAM_OVERHEAD_BYTES` longer than `message`, in `into` if it is long and that is given. */
  push(message: Uint8Array, tag: number = STREAM_TAGS.message, into?: Uint8Array): Uint8Array {
    const state = this.#state;
    const head = this.#head;
    const { length } = message;
    const codeAt = 1 + length;
    if (state.mayUseAead(length)) {
      head.fill(0);
      head[0] = tag;
      const sealed = state.bulk!.seal(state.key, state.nonce, head, message, into);
      state.advance(sealed, codeAt, tag);
      return sealed;
    }
    const sealed = new Uint8Array(length + STREAM_OVERHEAD_BYTES);
    writeBlock(head, state.block(1));
    head[0]! ^= tag;
    sealed[0] = head[0]!;
    state.xor(message, 0, length, sealed, 1);
    state.writeCode(head, sealed, 1, length, sealed, codeAt);
    state.advance(sealed, codeAt, tag);
    return sealed;
  }
}

/** The receiving end. */
export class SecretStreamPull {
  readonly #state: StreamState;
  readonly #head = new Uint8Array(BLOCK_BYTES);
  #tag: number = STREAM_TAGS.message;

  constructor(key: Uint8Array, header: Uint8Array, bulk?: BulkCipher) {
    this.#state = new StreamState(key, header, bulk);
  }

  /** The tag of the last message. */
  get tag(): number {
    return this.#tag;
  }

  /** Returns the message, or undefined if this is not the next message of the stream. The state then is as before. */
  pull(sealed: Uint8Array): Uint8Array | undefined {
    if (sealed.length < STREAM_OVERHEAD_BYTES) return undefined;
    const state = this.#state;
    const head = this.#head;
    const length = sealed.length - STREAM_OVERHEAD_BYTES;
    const codeAt = 1 + length;
    writeBlock(head, state.block(1));
    const tag = head[0]! ^ sealed[0]!;
    head[0] = sealed[0]!;
    let message: Uint8Array | undefined;
    if (state.mayUseAead(length)) {
      const parts = { head, body: sealed.subarray(1, codeAt), code: sealed.subarray(codeAt) };
      message = state.bulk!.open(state.key, state.nonce, parts);
      if (message === undefined) return undefined;
    } else {
      state.writeCode(head, sealed, 1, length, expected, 0);
      if (!isSame(expected, sealed, codeAt)) return undefined;
      message = new Uint8Array(length);
      state.xor(sealed, 1, length, message, 0);
    }
    this.#tag = tag;
    state.advance(sealed, codeAt, tag);
    return message;
  }
}

function writeBlock(bytes: Uint8Array, block: Uint32Array): void {
  for (let word = 0; word < block.length; word += 1) writeU32(bytes, word * WORD_BYTES, block[word]!);
}

function wordsOf(bytes: Uint8Array): Uint32Array {
  const words = new Uint32Array(bytes.length / 4);
  for (let word = 0; word < words.length; word += 1) words[word] = readU32(bytes, word * 4);
  return words;
}

/** Takes the same time wherever the difference is. */
function isSame(code: Uint8Array, bytes: Uint8Array, at: number): boolean {
  let difference = 0;
  for (let index = 0; index < MAC_BYTES; index += 1) difference |= code[index]! ^ bytes[at + index]!;
  return difference === 0;
}
