/**
 * The public keys of one trusted issuer: cached for the time that it states (within bounds), fetched again before
 * that has passed, and at once, at a limited rate, for an unknown key. While the issuer cannot be reached, its
 * last keys are used for one more hour.
 */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWK, type JWTVerifyGetKey } from 'jose';
import { FrontdoorError, messageOf, type Clock, type Log } from '#base';
import type { EgressAnswer } from '#net';

export interface IssuerKeysOptions {
  readonly jwksUri: string;
  readonly fetch: (url: string) => Promise<EgressAnswer>;
  readonly clock: Clock;
  readonly log: Log;
}

interface HeldKeys {
  readonly keyOf: JWTVerifyGetKey;
  readonly refreshAtMs: number;
  readonly freshUntilMs: number;
}

const MIN_FRESH_MS = 60_000;
const DEFAULT_FRESH_MS = 5 * 60_000;
const MAX_FRESH_MS = 24 * 3_600_000;
/** After this fraction of their lifetime, keys are fetched again, while the old ones stay in use. */
const REFRESH_AFTER = 0.75;
const MAX_STALE_MS = 3_600_000;
const MIN_BETWEEN_TRIES_MS = 30_000;
const MAX_KEYS = 100;
const ASYMMETRIC: ReadonlySet<unknown> = new Set(['RSA', 'EC', 'OKP']);

export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  #held: HeldKeys | undefined;
  #triedAtMs = -Infinity;
  #fetching: Promise<void> | undefined;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
  }

  /**
   * Returns the key that a token's header names. Throws `unavailable` if none are known, jose's errors if none
   * fits.
   */
  readonly keyOf: JWTVerifyGetKey = async (header, token) => {
    const held = await this.#current();
    try {
      return await held.keyOf(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !this.#mayTry()) throw error;
    }
    await this.refresh();
    return (await this.#current()).keyOf(header, token);
  };

  /** Fetches the keys, once for concurrent callers. Failures are logged. */
  refresh(): Promise<void> {
    this.#fetching ??= this.#fetch().finally(() => (this.#fetching = undefined));
    return this.#fetching;
  }

  async #current(): Promise<HeldKeys> {
    const nowMs = this.#options.clock.nowMs();
    if (this.#held !== undefined && nowMs < this.#held.freshUntilMs) {
      if (nowMs >= this.#held.refreshAtMs && this.#mayTry()) void this.refresh();
      return this.#held;
    }
    if (this.#mayTry()) await this.refresh();
    const held = this.#held;
    if (held !== undefined && nowMs < held.freshUntilMs + MAX_STALE_MS) return held;
    throw new FrontdoorError('unavailable', 'issuer-keys', `no keys from ${this.#options.jwksUri}`);
  }

  /** Whether a fetch is running that can be awaited, or the last one was long enough ago. */
  #mayTry(): boolean {
    const nowMs = this.#options.clock.nowMs();
    return this.#fetching !== undefined || nowMs - this.#triedAtMs >= MIN_BETWEEN_TRIES_MS;
  }

  async #fetch(): Promise<void> {
    const { jwksUri, fetch, clock, log } = this.#options;
    this.#triedAtMs = clock.nowMs();
    try {
      const { status, headers, json } = await fetch(jwksUri);
      const keys = status === 200 ? publicKeysOf(json) : undefined;
      if (keys === undefined) throw new Error(`status ${status}, or no key set`);
      const nowMs = clock.nowMs();
      const freshMs = freshMsOf(headers['cache-control']);
      this.#held = {
        keyOf: createLocalJWKSet(keys),
        refreshAtMs: nowMs + freshMs * REFRESH_AFTER,
        freshUntilMs: nowMs + freshMs,
      };
    } catch (error) {
      log.warn({ jwksUri, cause: messageOf(error) }, 'the keys of a trusted issuer could not be fetched');
    }
  }
}

/** Returns only the public parts of its keys, or undefined if it is not a key set. */
function publicKeysOf(json: unknown): JSONWebKeySet | undefined {
  const keys: unknown = (json as { keys?: unknown } | null | undefined)?.keys;
  if (!Array.isArray(keys)) return undefined;
  return { keys: keys.slice(0, MAX_KEYS).filter(isPublicKey) };
}

function isPublicKey(key: unknown): key is JWK {
  return typeof key === 'object' && key !== null && ASYMMETRIC.has((key as JWK).kty) && !('d' in key);
}

function freshMsOf(cacheControl: string | string[] | undefined): number {
  const text = String(cacheControl ?? '').toLowerCase();
  if (/\bno-(?:store|cache)\b/.test(text)) return MIN_FRESH_MS;
  const [, seconds] = /\bmax-age\s*=\s*"?(\d{1,9})/.exec(text) ?? [];
  if (seconds === undefined) return DEFAULT_FRESH_MS;
  return Math.min(MAX_FRESH_MS, Math.max(MIN_FRESH_MS, Number(seconds) * 1_000));
}
