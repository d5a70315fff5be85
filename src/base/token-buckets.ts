/** Rate limits by key (an address, an identity): token buckets in a bounded map, the longest unused go first. */
import type { Clock } from './clock.ts';

export interface BucketRate {
  readonly perSecond: number;
  readonly burst: number;
}

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

/** A bucket that goes because there are too many is by then nearly always full again. */
const MAX_KEYS = 20_000;

export class TokenBuckets {
  readonly #limit: BucketRate;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(limit: BucketRate, clock: Clock) {
    this.#limit = limit;
    this.#clock = clock;
  }

  get size(): number {
    return this.#buckets.size;
  }

  /** Milliseconds until there is a token; 0 when there is one. Takes nothing. */
  waitMs(key: string): number {
    return this.#waitOf(this.#filled(key));
  }

  /** Takes one token: 0 when there was one, else the milliseconds until there is. */
  take(key: string): number {
    const bucket = this.#filled(key);
    // Set again: the map's order is the order of last use.
    this.#buckets.delete(key);
    this.#buckets.set(key, bucket);
    if (this.#buckets.size > MAX_KEYS) this.#buckets.delete(this.#buckets.keys().next().value!);
    const waitMs = this.#waitOf(bucket);
    if (waitMs === 0) bucket.tokens -= 1;
    return waitMs;
  }

  #filled(key: string): Bucket {
    const nowMs = this.#clock.nowMs();
    const { perSecond, burst } = this.#limit;
    const { tokens, filledAtMs } = this.#buckets.get(key) ?? { tokens: burst, filledAtMs: nowMs };
    const added = (Math.max(0, nowMs - filledAtMs) * perSecond) / 1000;
    return { tokens: Math.min(burst, tokens + added), filledAtMs: nowMs };
  }

  #waitOf({ tokens }: Bucket): number {
    return tokens < 1 ? Math.ceil(((1 - tokens) * 1000) / this.#limit.perSecond) : 0;
  }
}
