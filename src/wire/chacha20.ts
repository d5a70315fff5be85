/**
 * The ChaCha20 block function of RFC 8439 and the key derivation HChaCha20, for messages that are too short to be
 * worth a native cipher. Words are little-endian. No branch and no index depends on a secret.
 */

const BLOCK_WORDS = 16;
const DOUBLE_ROUNDS = 10;

/** Words of `expand 32-byte k`. */
const SIGMA = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;

/** Words of a quarter round: the columns of the state, then its diagonals. */
const QUARTERS = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const;

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
    work.set(state);
    for (let round = 0; round < DOUBLE_ROUNDS; round += 1) {
      for (const [a, b, c, d] of QUARTERS) {
        let wa = work[a]!;
        let wb = work[b]!;
        let wc = work[c]!;
        let wd = work[d]!;
        wa = (wa + wb) | 0;
        wd ^= wa;
        wd = (wd << 16) | (wd >>> 16);
        wc = (wc + wd) | 0;
        wb ^= wc;
        wb = (wb << 12) | (wb >>> 20);
        wa = (wa + wb) | 0;
        wd ^= wa;
        wd = (wd << 8) | (wd >>> 24);
        wc = (wc + wd) | 0;
        wb ^= wc;
        wb = (wb << 7) | (wb >>> 25);
        work[a] = wa;
        work[b] = wb;
        work[c] = wc;
        work[d] = wd;
      }
    }
    return work;
  }
}
