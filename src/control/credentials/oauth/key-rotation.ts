/**
 * Rotates the keys that sign tokens without an outage: a new key is published before it signs, and the previous
 * one verifies until its last token has expired. Rotation happens on a timer by age, and for bearer tokens at an
 * administrator's request. Of several control planes over one database, the first one to lock the keys rotates.
 */
import { messageOf, type Clock, type Log } from '#base';
import { appendAudit, THE_SYSTEM } from '../../audit/mod.ts';
import type { Secrets } from '../../secrets/mod.ts';
import {
  createSigningKey,
  deleteExpiredSigningKeys,
  endOtherSigningKeys,
  lockNewestSigningKey,
  type SigningKey,
  type SigningPurpose,
} from './signing-key-store.ts';
import type { Queries, Store, Touch } from '../../store/mod.ts';
import {
  CLOCK_SKEW_MS,
  IDENTITY_TOKEN_LIFETIME_MS,
  SERVICE_TOKEN_LIFETIME_MS,
  TOKEN_LIFETIME_MS,
} from './token-lifetimes.ts';

interface RotationRule {
  /** How long a key signs before another one replaces it. */
  readonly maxAgeMs: number;
  readonly tokenLifetimeMs: number;
}

/** How long a new key is published before it signs, which is how long key sets may be cached. */
export const PUBLISHED_AHEAD_MS = 5 * 60_000;
const DAY_MS = 86_400_000;
const LOOK_EVERY_MS = 3_600_000;
/** Expired keys are kept for a while, for investigations. */
const KEPT_AFTER_END_MS = 7 * DAY_MS;

const RULES: Readonly<Record<SigningPurpose, RotationRule>> = {
  bearer: { maxAgeMs: 90 * DAY_MS, tokenLifetimeMs: TOKEN_LIFETIME_MS },
  'service-session': { maxAgeMs: 365 * DAY_MS, tokenLifetimeMs: SERVICE_TOKEN_LIFETIME_MS },
  'origin-identity': { maxAgeMs: 90 * DAY_MS, tokenLifetimeMs: IDENTITY_TOKEN_LIFETIME_MS },
};

/**
 * Creates the next key of a purpose if the newest has signed for `minAgeMs`. Returns undefined if it has not, or
 * does not sign yet. The first key of a purpose is created elsewhere.
 */
export async function rotateSigningKey(
  trx: Queries,
  touch: Touch,
  secrets: Secrets,
  purpose: SigningPurpose,
  nowMs: number,
  minAgeMs = 0,
): Promise<SigningKey | undefined> {
  const newestSignsAtMs = await lockNewestSigningKey(trx, purpose);
  if (newestSignsAtMs === undefined || newestSignsAtMs > nowMs - minAgeMs) return undefined;
  const activatesAtMs = nowMs + PUBLISHED_AHEAD_MS;
  const key = await createSigningKey(trx, touch, secrets, purpose, nowMs, activatesAtMs);
  const endMs = activatesAtMs + RULES[purpose].tokenLifetimeMs + CLOCK_SKEW_MS;
  await endOtherSigningKeys(trx, touch, purpose, key.id, endMs);
  return key;
}

export interface KeyRotationOptions {
  readonly store: Store;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly log: Log;
}

export class KeyRotation {
  readonly #options: KeyRotationOptions;
  readonly #timer: NodeJS.Timeout;
  #looking: Promise<void> | undefined;

  private constructor(options: KeyRotationOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /** Checks at once, then every hour. */
  static async start(options: KeyRotationOptions): Promise<KeyRotation> {
    const rotation = new KeyRotation(options);
    await rotation.look();
    return rotation;
  }

  /** Rotates due keys and removes old ones. If the store is unavailable, the next check retries. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { clock, log } = this.#options;
    for (const purpose of Object.keys(RULES) as SigningPurpose[]) {
      try {
        await this.#lookAt(purpose, clock.nowMs());
      } catch (error) {
        log.error({ purpose, cause: messageOf(error) }, 'signing keys could not be checked');
      }
    }
  }

  async #lookAt(purpose: SigningPurpose, nowMs: number): Promise<void> {
    const { store, secrets, log } = this.#options;
    const made = await store.transaction(async (trx, touch) => {
      await deleteExpiredSigningKeys(trx, touch, purpose, nowMs - KEPT_AFTER_END_MS);
      const key = await rotateSigningKey(trx, touch, secrets, purpose, nowMs, RULES[purpose].maxAgeMs);
      if (key === undefined) return undefined;
      const entry = {
        organizationId: '',
        actor: THE_SYSTEM,
        action: 'rotateSigningKey',
        target: { kind: 'signing-key', id: key.id },
        address: null,
        result: 'ok',
      } as const;
      await appendAudit(trx, touch, secrets, entry, nowMs);
      return key;
    });
    if (made !== undefined)
      log.info({ purpose, kid: made.id }, 'created a new signing key, which signs soon');
  }
}
