/**
 * Token buckets by caller. The number of buckets is bounded; the least recently used one is evicted, and its
 * caller starts with a full bucket.
 */
import { BoundedMap } from './bounded-map.ts';

export interface Rate {
  readonly requests: number;
  readonly perMs: number;
}

interface Bucket {
  tokens: number;
  atMs: number;
}

const MAX_CALLERS = 100_000;

export class RateLimits {
  readonly #buckets: BoundedMap<string, Bucket>;

  constructor(maxCallers = MAX_CALLERS) {
    this.#buckets = new BoundedMap(maxCallers);
  }

  /**
   * Takes a token and returns 0, or returns how many milliseconds remain until one is available. `nowMs` is
   * monotonic.
   */
  take(key: string, rate: Rate, nowMs: number): number {
    const bucket = this.#refilled(key, rate, nowMs);
    if (bucket.tokens < 1) return Math.max(1, ((1 - bucket.tokens) * rate.perMs) / rate.requests);
    bucket.tokens -= 1;
    return 0;
  }

  giveBack(key: string, rate: Rate, nowMs: number): void {
    const bucket = this.#refilled(key, rate, nowMs);
    bucket.tokens = Math.min(rate.requests, bucket.tokens + 1);
  }

  /** Returns the same as `take`, without taking a token. */
  waitMs(key: string, rate: Rate, nowMs: number): number {
    const { tokens } = this.#refilled(key, rate, nowMs);
    return tokens < 1 ? Math.max(1, ((1 - tokens) * rate.perMs) / rate.requests) : 0;
  }

  #refilled(key: string, rate: Rate, nowMs: number): Bucket {
    const bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      const fresh = { tokens: rate.requests, atMs: nowMs };
      this.#buckets.set(key, fresh);
      return fresh;
    }
    const gained = ((nowMs - bucket.atMs) * rate.requests) / rate.perMs;
    bucket.tokens = Math.min(rate.requests, bucket.tokens + gained);
    bucket.atMs = nowMs;
    return bucket;
  }
}

/**
 * Returns the key of a caller by address. An IPv6 address counts as its site's network, because its host part can
 * be chosen freely.
 */
export function callerAddress(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('%')[0]!.split('::');
  const groups = head === '' ? [] : head.split(':');
  const behind = tail === undefined || tail === '' ? [] : tail.split(':');
  while (tail !== undefined && groups.length + behind.length < 8) groups.push('0');
  return `${[...groups, ...behind].slice(0, 4).join(':')}::/64`;
}
