export interface BackOffOptions {
  readonly minMs: number;
  readonly maxMs: number;
  readonly factor: number;
  /** The random fraction of the delay, 0 to 1. */
  readonly jitter?: number;
}

/** Delays between attempts: `minMs` first, then growing by `factor` up to `maxMs`. Call `reset` after a success. */
export class BackOff {
  readonly #options: BackOffOptions;
  readonly #random: () => number;
  #attempts = 0;

  constructor(options: BackOffOptions, random: () => number = Math.random) {
    this.#options = options;
    this.#random = random;
  }

  get attempts(): number {
    return this.#attempts;
  }

  /** Returns the delay before the next attempt in milliseconds. */
  next(): number {
    const { minMs, maxMs, factor, jitter = 0.2 } = this.#options;
    const plain = Math.min(maxMs, minMs * factor ** this.#attempts);
    this.#attempts += 1;
    return Math.round(plain * (1 - jitter + 2 * jitter * this.#random()));
  }

  reset(): void {
    this.#attempts = 0;
  }
}
