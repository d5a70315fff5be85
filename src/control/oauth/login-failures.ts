/**
 * Bounds wrong secrets per client, from wherever they come. An address that the client once logged in from is counted
 * by itself: strangers who guess cannot lock it out.
 */
import type { Clock } from '#base';
import { addressKey, TokenBuckets, type RateLimit } from '../token-buckets.ts';

/** Ids are UUIDs; what is longer is nobody's and must not fill the memory. */
const MAX_ID_CHARS = 36;
const MAX_KNOWN = 20_000;

export class LoginFailures {
  readonly #failures: TokenBuckets;
  /** Where clients have logged in from, the longest unused first. */
  readonly #known = new Set<string>();

  constructor(limit: RateLimit, clock: Clock) {
    this.#failures = new TokenBuckets(limit, clock);
  }

  /** Milliseconds until this client may be tried again from this address; 0: now. */
  waitMs(clientId: string, address: string): number {
    return this.#failures.waitMs(this.#key(clientId, address));
  }

  failed(clientId: string, address: string): void {
    this.#failures.take(this.#key(clientId, address));
  }

  succeeded(clientId: string, address: string): void {
    const pair = pairOf(clientId, address);
    this.#known.delete(pair);
    this.#known.add(pair);
    if (this.#known.size > MAX_KNOWN) this.#known.delete(this.#known.values().next().value!);
  }

  #key(clientId: string, address: string): string {
    const pair = pairOf(clientId, address);
    return this.#known.has(pair) ? pair : clientId.slice(0, MAX_ID_CHARS);
  }
}

function pairOf(clientId: string, address: string): string {
  return `${clientId.slice(0, MAX_ID_CHARS)} ${addressKey(address)}`;
}
