/**
 * One-time passwords (TOTP) as second factor: enrollment, the check of a code, and recovery codes. A code is accepted once, at
 * any control plane, because the step of the last one is stored. Guesses are limited per identity.
 */
import { AttemptLimits, type AttemptRate, type Clock } from '#base';
import { authPolicyOf, requiresTotp, type OverlayModel } from '../../overlay/model/mod.ts';
import type { Secrets } from '../../secrets/mod.ts';
import {
  changeTotp,
  deleteTotp,
  findTotp,
  insertTotp,
  lockTotp,
  needsTotp,
  type IdentityTotp,
} from '../../credentials/identities/mod.ts';
import type { Store, StoreTransaction, Touch } from '../../store/mod.ts';
import { newRecoveryCodes, newTotpSecret, usedCode } from '../../credentials/totp/mod.ts';

/** Wrong codes of one identity, from all addresses, because only a client that has passed the first factor can guess. */
const FAILURES: AttemptRate = { attempts: 5, perMs: 5 * 60_000 };
const SOURCE = 'totp';

export interface TotpParts {
  readonly store: Store;
  readonly model: OverlayModel;
  readonly secrets: Pick<Secrets, 'seal' | 'unseal'>;
  readonly clock: Clock;
}

/** Writes the audit event of a change, in its transaction. */
export type AlsoWrite = (trx: StoreTransaction, touch: Touch) => Promise<void>;

/** Which codes are accepted. */
export interface CodeRule {
  /** Whether a recovery code is accepted, which it uses up. */
  readonly recovery: boolean;
  /** Whether the enrollment has to be complete; otherwise it must not be, and the code completes it. */
  readonly isVerified: boolean;
}

/** `enrollment`: the identity has to enroll before it is logged in, and shows its first code with that. */
export type SecondFactorNeed = 'none' | 'code' | 'enrollment';

export type CodeCheck =
  | { readonly ok: true; readonly totp: IdentityTotp }
  | { readonly ok: false; readonly reason: 'wrong' | 'none' }
  | { readonly ok: false; readonly waitMs: number };

export class SecondFactors {
  readonly #parts: TotpParts;
  readonly #failures = new AttemptLimits();

  constructor(parts: TotpParts) {
    this.#parts = parts;
  }

  /** Whether the identity has enrolled, so that its log-ins need a code. */
  hasEnrolled(identityId: string): Promise<boolean> {
    return needsTotp(this.#parts.store.db, identityId);
  }

  /** What a log-in of the identity needs besides its first proof. */
  async needOf(identityId: string): Promise<SecondFactorNeed> {
    if (await this.hasEnrolled(identityId)) return 'code';
    return this.isDemanded(identityId) ? 'enrollment' : 'none';
  }

  /** Whether the authentication policy of the identity demands a second factor. */
  isDemanded(identityId: string): boolean {
    return requiresTotp(authPolicyOf(this.#parts.model.edge, identityId));
  }

  find(identityId: string): Promise<IdentityTotp | undefined> {
    return findTotp(this.#parts.store.db, this.#parts.secrets, identityId);
  }

  /** Begins an enrollment. Returns undefined if the identity has one. */
  async begin(identityId: string, also: AlsoWrite): Promise<IdentityTotp | undefined> {
    const { store, secrets, clock } = this.#parts;
    const made = { secret: newTotpSecret(), recoveryCodes: newRecoveryCodes() };
    return store.transaction(async (trx, touch) => {
      if (!(await insertTotp(trx, secrets, identityId, made, clock.nowMs()))) return undefined;
      await also(trx, touch);
      return findTotp(trx, secrets, identityId);
    });
  }

  /**
   * Checks a code, and uses it up. `change` returns what else changes, and `also` writes its event; both run in the same
   * transaction.
   */
  async check(
    identityId: string,
    code: unknown,
    rule: CodeRule,
    change: (totp: IdentityTotp) => IdentityTotp | 'delete' = (totp) => totp,
    also?: AlsoWrite,
  ): Promise<CodeCheck> {
    const { store, secrets, clock } = this.#parts;
    const nowMs = clock.nowMs();
    const waitMs = this.#failures.waitMs(identityId, SOURCE, FAILURES, nowMs);
    if (waitMs > 0) return { ok: false, waitMs };
    // Counted before the check, so that guesses at once are limited, too.
    this.#failures.failed(identityId, SOURCE, FAILURES, nowMs);
    const result = await store.transaction(async (trx, touch): Promise<CodeCheck> => {
      const present = await lockTotp(trx, secrets, identityId);
      if (present === undefined || present.isVerified !== rule.isVerified)
        return { ok: false, reason: 'none' };
      const accepted = typeof code === 'string' ? acceptedBy(present, code, rule, nowMs) : undefined;
      if (accepted === undefined) return { ok: false, reason: 'wrong' };
      const changed = change(accepted);
      if (changed === 'delete') await deleteTotp(trx, identityId);
      else await changeTotp(trx, secrets, changed, nowMs);
      await also?.(trx, touch);
      return { ok: true, totp: changed === 'delete' ? accepted : changed };
    });
    if (result.ok || !('reason' in result) || result.reason === 'none')
      this.#failures.takeBack(identityId, SOURCE, FAILURES);
    return result;
  }

  /** Removes an enrollment that is not complete. Returns false if there is none. */
  async abandon(identityId: string, also: AlsoWrite): Promise<boolean> {
    const { store, secrets } = this.#parts;
    return store.transaction(async (trx, touch) => {
      const present = await lockTotp(trx, secrets, identityId);
      if (present === undefined || present.isVerified) return false;
      await deleteTotp(trx, identityId);
      await also(trx, touch);
      return true;
    });
  }
}

/** Returns the record after the code was used; undefined for a wrong one. */
function acceptedBy(
  totp: IdentityTotp,
  code: string,
  { recovery }: CodeRule,
  nowMs: number,
): IdentityTotp | undefined {
  const used = usedCode(totp, code, nowMs, recovery);
  if (used === undefined) return undefined;
  return { ...totp, ...used, isVerified: totp.isVerified || used.lastStep !== undefined };
}
