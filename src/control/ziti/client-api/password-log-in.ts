/**
 * The check of user names and passwords. A wrong name takes the same time as a wrong password. Attempts are limited before
 * the hash: per address, and per name at an address, so that nobody can lock an identity out from elsewhere.
 */
import {
  addressKey,
  AttemptLimits,
  TokenBuckets,
  type AttemptRate,
  type BucketRate,
  type Clock,
} from '#base';
import type { Identity, OverlayModel } from '../../overlay/model/mod.ts';
import { findIdentityPassword } from '../../credentials/identities/mod.ts';
import type { Store } from '../../store/mod.ts';
import { acceptsPassword } from './password-attempts.ts';

const MAX_USERNAME_CHARS = 256;
const MAX_PASSWORD_CHARS = 1_024;
/** As OpenZiti requires. */
const MIN_PASSWORD_CHARS = 5;
/** Attempts of one address, right or wrong. */
const ATTEMPTS: BucketRate = { perSecond: 2, burst: 60 };
/** Wrong passwords for one name from one address. */
const FAILURES: AttemptRate = { attempts: 10, perMs: 10 * 60_000 };

export interface PasswordParts {
  readonly store: Pick<Store, 'db'>;
  readonly model: OverlayModel;
  readonly clock: Clock;
}

export interface PasswordCredentials {
  readonly username: unknown;
  readonly password: unknown;
}

export type PasswordProof =
  | { readonly identity: Identity }
  /** For the log. Callers get one answer for all of them. The identity is that of the name, if it is one. */
  | { readonly problem: string; readonly identityId?: string | undefined }
  | { readonly waitMs: number };

export class PasswordLogIns {
  readonly #parts: PasswordParts;
  readonly #attempts: TokenBuckets;
  readonly #failures = new AttemptLimits();

  constructor(parts: PasswordParts) {
    this.#parts = parts;
    this.#attempts = new TokenBuckets(ATTEMPTS, parts.clock);
  }

  /** Throws `PasswordQueueFull` while too many passwords wait. */
  async prove({ username, password }: PasswordCredentials, address: string): Promise<PasswordProof> {
    const { store, model, clock } = this.#parts;
    const source = addressKey(address);
    const waitMs = this.#attempts.take(source);
    if (waitMs > 0) return { waitMs };
    if (!isUsername(username) || !isText(password, MAX_PASSWORD_CHARS))
      return { problem: 'no user name or no password' };
    const nowMs = clock.nowMs();
    const pauseMs = this.#failures.waitMs(username, source, FAILURES, nowMs);
    if (pauseMs > 0) return { waitMs: pauseMs };
    // Counted before the hash, so that guesses at once are limited, too.
    this.#failures.failed(username, source, FAILURES, nowMs);
    const stored = await findIdentityPassword(store.db, username);
    let isRight: boolean;
    try {
      isRight = await acceptsPassword(this.#parts, password, stored, address);
    } catch (error) {
      // Nobody has judged the password.
      this.#failures.takeBack(username, source, FAILURES);
      throw error;
    }
    const identity = isRight && stored !== undefined ? model.identity(stored.identityId) : undefined;
    if (identity === undefined || identity.kind === 'router')
      return { problem: 'the user name or the password is wrong', identityId: stored?.identityId };
    this.#failures.takeBack(username, source, FAILURES);
    return { identity };
  }
}

export function isUsername(value: unknown): value is string {
  return isText(value, MAX_USERNAME_CHARS);
}

/** Whether the value may become a password. */
export function isPassword(value: unknown): value is string {
  return isText(value, MAX_PASSWORD_CHARS) && value.length >= MIN_PASSWORD_CHARS;
}

function isText(value: unknown, maxChars: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxChars;
}
