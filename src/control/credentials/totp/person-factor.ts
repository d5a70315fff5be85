/**
 * The second factor of people who log in at the console with a password. All functions run in the transaction of their
 * caller, also those that refuse a code, because the row counts the wrong ones for all control planes.
 */
import type { Secrets } from '../../secrets/mod.ts';
import {
  demandsSecondFactor,
  findPersonTotp,
  lockPersonTotp,
  putPersonTotp,
  type EnrolledTotp,
  type PersonTotp,
} from '../people/person-totp-store.ts';
import { hasPassword } from '../people/person-password-store.ts';
import { lockPerson } from '../people/person-store.ts';
import type { Queries, StoreTransaction } from '../../store/mod.ts';
import { newRecoveryCodes } from './recovery-codes.ts';
import { usedCode } from './totp-factor.ts';
import { newTotpSecret } from './totp-secret.ts';

/** `enrollment`: the organization demands a second factor that the person does not have yet. */
export type PersonFactorNeed = 'none' | 'code' | 'enrollment';

export type PersonCodeCheck =
  | { readonly ok: true; readonly usedRecovery: boolean; readonly recoveryCodesLeft: number }
  | FactorRefusal;

export type FactorConfirmation =
  | { readonly ok: true; readonly recoveryCodes: readonly string[] }
  | FactorRefusal;

/** `none`: there is nothing that the code could belong to. */
type FactorRefusal =
  | { readonly ok: false; readonly reason: 'wrong' | 'none' }
  | { readonly ok: false; readonly reason: 'later'; readonly afterMs: number };

export interface FactorParts {
  readonly secrets: Pick<Secrets, 'seal' | 'unseal'>;
  readonly nowMs: number;
}

/** Five wrong codes in a row lock the factor for a quarter of an hour, the next five for twice as long, at most a day. */
const MAX_ATTEMPTS = 5;
const LOCK_MS = 900_000;
const MAX_LOCK_MS = 86_400_000;
/** An hour, in which the person sets up the app. */
const PENDING_MS = 3_600_000;

/** Whether log-ins of the person with a password need more. */
export async function personFactorNeed(
  db: Queries,
  { secrets }: Pick<FactorParts, 'secrets'>,
  { id, organizationId }: { readonly id: string; readonly organizationId: string },
): Promise<PersonFactorNeed> {
  const totp = await findPersonTotp(db, secrets, id);
  if (totp?.enrolled !== undefined) return 'code';
  return (await demandsSecondFactor(db, organizationId)) ? 'enrollment' : 'none';
}

/** Examines a code, and uses it up. */
export async function usePersonCode(
  trx: StoreTransaction,
  parts: FactorParts,
  personId: string,
  code: string,
): Promise<PersonCodeCheck> {
  const totp = await lockPersonTotp(trx, parts.secrets, personId);
  if (totp?.enrolled === undefined) return { ok: false, reason: 'none' };
  const { enrolled } = totp;
  const checked = await counted(trx, parts, totp, () => usedCode(enrolled, bare(code), parts.nowMs, true));
  if ('ok' in checked) return checked;
  const after: EnrolledTotp = { ...enrolled, ...checked };
  await putPersonTotp(trx, parts.secrets, { ...unlocked(totp), enrolled: after }, parts.nowMs);
  const { length: recoveryCodesLeft } = after.recoveryCodes;
  return { ok: true, usedRecovery: checked.recoveryCodes !== undefined, recoveryCodesLeft };
}

/**
 * Makes a secret that counts once the person has confirmed it; until then an earlier one does. Returns undefined for a
 * person without a password.
 */
export async function beginPersonFactor(
  trx: StoreTransaction,
  { secrets, nowMs }: FactorParts,
  personId: string,
): Promise<Uint8Array | undefined> {
  // Locks the person, because there may be no row of the factor yet.
  if ((await lockPerson(trx, personId)) === undefined || !(await hasPassword(trx, personId)))
    return undefined;
  const present = (await lockPersonTotp(trx, secrets, personId)) ?? noFactor(personId);
  const secret = newTotpSecret();
  const pending = { secret, untilMs: nowMs + PENDING_MS };
  await putPersonTotp(trx, secrets, { ...present, pending }, nowMs);
  return secret;
}

/** Takes the pending secret into use with its first code. Its recovery codes are shown in the result alone. */
export async function confirmPersonFactor(
  trx: StoreTransaction,
  parts: FactorParts,
  personId: string,
  code: string,
): Promise<FactorConfirmation> {
  const totp = await lockPersonTotp(trx, parts.secrets, personId);
  if (totp?.pending === undefined || totp.pending.untilMs <= parts.nowMs)
    return { ok: false, reason: 'none' };
  const fresh = { secret: totp.pending.secret, lastStep: 0, recoveryCodes: [] };
  const checked = await counted(trx, parts, totp, () => usedCode(fresh, bare(code), parts.nowMs, false));
  if ('ok' in checked) return checked;
  const recoveryCodes = newRecoveryCodes();
  const enrolled = { ...fresh, ...checked, recoveryCodes, enrolledAtMs: parts.nowMs };
  await putPersonTotp(trx, parts.secrets, { ...unlocked(totp), enrolled, pending: undefined }, parts.nowMs);
  return { ok: true, recoveryCodes };
}

/** Replaces the recovery codes, all of them. Returns undefined if the person has no second factor. */
export async function renewPersonRecovery(
  trx: StoreTransaction,
  { secrets, nowMs }: FactorParts,
  personId: string,
): Promise<readonly string[] | undefined> {
  const totp = await lockPersonTotp(trx, secrets, personId);
  if (totp?.enrolled === undefined) return undefined;
  const recoveryCodes = newRecoveryCodes();
  await putPersonTotp(trx, secrets, { ...totp, enrolled: { ...totp.enrolled, recoveryCodes } }, nowMs);
  return recoveryCodes;
}

/** Returns what `examine` does for a right code. Counts a wrong one. */
async function counted<T>(
  trx: StoreTransaction,
  { secrets, nowMs }: FactorParts,
  totp: PersonTotp,
  examine: () => T | undefined,
): Promise<T | FactorRefusal> {
  const waitMs = totp.lockedUntilMs - nowMs;
  // A lock that would last longer was made before the clock was set back.
  if (waitMs > 0 && waitMs <= lockMsAfter(totp.failedAttempts))
    return { ok: false, reason: 'later', afterMs: waitMs };
  const used = examine();
  if (used !== undefined) return used;
  const failedAttempts = totp.failedAttempts + 1;
  const isLocked = failedAttempts % MAX_ATTEMPTS === 0;
  const lockedUntilMs = isLocked ? nowMs + lockMsAfter(failedAttempts) : 0;
  await putPersonTotp(trx, secrets, { ...totp, failedAttempts, lockedUntilMs }, nowMs);
  return { ok: false, reason: 'wrong' };
}

function lockMsAfter(failedAttempts: number): number {
  return Math.min(MAX_LOCK_MS, LOCK_MS * 2 ** (Math.floor(failedAttempts / MAX_ATTEMPTS) - 1));
}

function noFactor(personId: string): PersonTotp {
  return { personId, enrolled: undefined, pending: undefined, failedAttempts: 0, lockedUntilMs: 0 };
}

function unlocked(totp: PersonTotp): PersonTotp {
  return { ...totp, failedAttempts: 0, lockedUntilMs: 0 };
}

/** Apps and people group the characters of a code. */
function bare(code: string): string {
  return code.replaceAll(/[\s-]/g, '');
}
