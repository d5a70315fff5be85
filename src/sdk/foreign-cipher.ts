/**
 * OpenSSL's ChaCha20-Poly1305 for the long messages of end-to-end encryption, by calls of the library that is part of the
 * runtime (ADR 0048). In contrast to Node's ciphers, one context serves all messages, and a message is sealed into memory
 * that is given and opened in its own memory, so that nothing is allocated or copied.
 */
import type * as Ffi from 'node:ffi';
import type { BulkCipher, SealedParts } from '#wire';
import { nativeCipher } from './native-cipher.ts';

const HEAD_BYTES = 64;
const CODE_BYTES = 16;
/** Controls of `EVP_CIPHER_CTX_ctrl`. */
const GET_CODE = 0x10;
const SET_CODE = 0x11;
const SEALS = 1;
const OPENS = 0;
const SUCCESS = 1;
const NULL = 0n;

/** Positions in the memory that all calls use: what they read, and below `OUT` what they write. */
const KEY = 0;
const NONCE = 32;
const HEAD = 64;
const CODE = 128;
const OUT = 192;
const LENGTH = 256;
const FIXED_BYTES = 320;

/** `pointer` is a position in that memory, because the conversion of each `buffer` takes as long as a call. */
const CALLS = {
  EVP_chacha20_poly1305: { arguments: [], return: 'pointer' },
  EVP_CIPHER_CTX_new: { arguments: [], return: 'pointer' },
  EVP_CIPHER_CTX_ctrl: { arguments: ['pointer', 'i32', 'i32', 'pointer'], return: 'i32' },
  EVP_CipherInit_ex: {
    arguments: ['pointer', 'pointer', 'pointer', 'pointer', 'pointer', 'i32'],
    return: 'i32',
  },
  EVP_CipherUpdate: { arguments: ['pointer', 'pointer', 'pointer', 'pointer', 'i32'], return: 'i32' },
  EVP_CipherFinal_ex: { arguments: ['pointer', 'pointer', 'pointer'], return: 'i32' },
} as const;
const BODY_CALLS = {
  EVP_CipherUpdate: { arguments: ['pointer', 'buffer', 'pointer', 'buffer', 'i32'], return: 'i32' },
} as const;

type Functions<D> = { readonly [K in keyof D]: Ffi.WrappedFunctionFromSignature<D[K] & object> };

class ForeignCipher implements BulkCipher {
  readonly #calls: Functions<typeof CALLS>;
  readonly #updateBody: Functions<typeof BODY_CALLS>['EVP_CipherUpdate'];
  readonly #memory: Uint8Array;
  readonly #key: bigint;
  readonly #nonce: bigint;
  readonly #head: bigint;
  readonly #code: bigint;
  readonly #out: bigint;
  readonly #length: bigint;
  readonly #sealing: bigint;
  readonly #opening: bigint;

  constructor({ dlopen, getRawPointer }: typeof Ffi) {
    this.#calls = dlopen(null, CALLS).functions;
    this.#updateBody = dlopen(null, BODY_CALLS).functions.EVP_CipherUpdate;
    const memory = new ArrayBuffer(FIXED_BYTES);
    this.#memory = new Uint8Array(memory);
    const pointerTo = (position: number): bigint => getRawPointer(memory) + BigInt(position);
    this.#key = pointerTo(KEY);
    this.#nonce = pointerTo(NONCE);
    this.#head = pointerTo(HEAD);
    this.#code = pointerTo(CODE);
    this.#out = pointerTo(OUT);
    this.#length = pointerTo(LENGTH);
    this.#sealing = this.#newContext(SEALS);
    this.#opening = this.#newContext(OPENS);
  }

  seal(
    key: Uint8Array,
    nonce: Uint8Array,
    head: Uint8Array,
    body: Uint8Array,
    into: Uint8Array | undefined,
  ): Uint8Array {
    const codeAt = 1 + body.length;
    const sealed = into ?? newBytes(codeAt + CODE_BYTES);
    const context = this.#sealing;
    this.#begin(context, key, nonce, head, SEALS);
    sealed[0] = this.#memory[OUT]!;
    succeed(this.#updateBody(context, sealed.subarray(1), this.#length, body, body.length));
    succeed(this.#finish(context));
    succeed(this.#calls.EVP_CIPHER_CTX_ctrl(context, GET_CODE, CODE_BYTES, this.#code));
    sealed.set(this.#memory.subarray(CODE, CODE + CODE_BYTES), codeAt);
    return sealed;
  }

  open(
    key: Uint8Array,
    nonce: Uint8Array,
    { head, body, code }: SealedParts,
    mayOverwrite: boolean,
  ): Uint8Array | undefined {
    const text = mayOverwrite ? body : newBytes(body.length);
    const context = this.#opening;
    this.#begin(context, key, nonce, head, OPENS);
    this.#memory.set(code, CODE);
    succeed(this.#calls.EVP_CIPHER_CTX_ctrl(context, SET_CODE, CODE_BYTES, this.#code));
    succeed(this.#updateBody(context, text, this.#length, body, body.length));
    return this.#finish(context) === SUCCESS ? text : undefined;
  }

  xor(...message: Parameters<BulkCipher['xor']>): Uint8Array {
    return nativeCipher.xor(...message);
  }

  #newContext(direction: number): bigint {
    const calls = this.#calls;
    const context = calls.EVP_CIPHER_CTX_new();
    const cipher = calls.EVP_chacha20_poly1305();
    succeed(calls.EVP_CipherInit_ex(context, cipher, NULL, this.#key, this.#nonce, direction));
    return context;
  }

  /** Begins a message with its head, whose result is at `OUT`. */
  #begin(context: bigint, key: Uint8Array, nonce: Uint8Array, head: Uint8Array, direction: number): void {
    const memory = this.#memory;
    memory.set(key, KEY);
    memory.set(nonce, NONCE);
    memory.set(head, HEAD);
    const calls = this.#calls;
    succeed(calls.EVP_CipherInit_ex(context, NULL, NULL, this.#key, this.#nonce, direction));
    succeed(calls.EVP_CipherUpdate(context, this.#out, this.#length, this.#head, HEAD_BYTES));
  }

  #finish(context: bigint): number {
    return this.#calls.EVP_CipherFinal_ex(context, this.#out, this.#length);
  }
}

/** Returns undefined where the runtime has no such calls, or they do not do what Node's cipher does. */
export function openForeignCipher(): BulkCipher | undefined {
  const ffi = process.getBuiltinModule('node:ffi');
  if (ffi === undefined) return undefined;
  try {
    const cipher = new ForeignCipher(ffi);
    return isRight(cipher) ? cipher : undefined;
  } catch {
    return undefined;
  }
}

function isRight(cipher: BulkCipher): boolean {
  const [key, nonce, head, body] = [32, 12, HEAD_BYTES, 1_024].map((bytes) => Buffer.alloc(bytes, bytes));
  const message = [key!, nonce!, head!, body!, undefined] as const;
  return Buffer.compare(cipher.seal(...message), nativeCipher.seal(...message)) === 0;
}

/** Returns memory with old content. It is no Buffer, whose `slice` would be a view. */
function newBytes(bytes: number): Uint8Array {
  return new Uint8Array(Buffer.allocUnsafeSlow(bytes).buffer);
}

function succeed(result: number): void {
  if (result !== SUCCESS) throw new Error("a call of the runtime's OpenSSL failed");
}
