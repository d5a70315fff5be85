/**
 * One-time passwords of people as second factor: the secret, the last step that was used, recovery codes, and the count
 * of wrong codes. All of it is in the row, so that all control planes count together.
 */
import { jsonReader, Part } from '#base/shapes';
import type { Secrets } from '../../secrets/mod.ts';
import { lockedForUpdate, type Queries, type PersonTotpTable } from '../../store/mod.ts';
import { renewSessionCredential } from './console-session-store.ts';

const readCodes = jsonReader(Part.texts());

/** What codes are examined with. */
export interface EnrolledTotp {
  readonly secret: Uint8Array;
  /** The step of the last code that was accepted. */
  readonly lastStep: number;
  /** Each replaces a code once. */
  readonly recoveryCodes: readonly string[];
  readonly enrolledAtMs: number;
}

/** A secret whose first code was not shown yet. */
export interface PendingTotp {
  readonly secret: Uint8Array;
  readonly untilMs: number;
}

export interface PersonTotp {
  readonly personId: string;
  readonly enrolled: EnrolledTotp | undefined;
  readonly pending: PendingTotp | undefined;
  /** Wrong codes since the last right one. */
  readonly failedAttempts: number;
  /** 0: not locked. */
  readonly lockedUntilMs: number;
}

type Sealing = Pick<Secrets, 'seal' | 'unseal'>;

export async function findPersonTotp(
  db: Queries,
  secrets: Sealing,
  personId: string,
): Promise<PersonTotp | undefined> {
  const row = await totpQuery(db, personId).executeTakeFirst();
  return row && totpOf(secrets, row);
}

/** Reads it like `findPersonTotp`, and keeps other transactions from changing it. */
export async function lockPersonTotp(
  trx: Queries,
  secrets: Sealing,
  personId: string,
): Promise<PersonTotp | undefined> {
  const row = await lockedForUpdate(trx, totpQuery(trx, personId)).executeTakeFirst();
  return row && totpOf(secrets, row);
}

/** Stores it instead of an earlier one. The caller has locked the earlier one, or the person. */
export async function putPersonTotp(
  trx: Queries,
  secrets: Pick<Secrets, 'seal'>,
  { personId, enrolled, pending, failedAttempts, lockedUntilMs }: PersonTotp,
  nowMs: number,
): Promise<void> {
  const sealed = (secret: Uint8Array) => secrets.seal(Buffer.from(secret).toString('base64'));
  const fields = {
    secret_sealed: enrolled === undefined ? null : sealed(enrolled.secret),
    recovery_sealed: secrets.seal(JSON.stringify(enrolled?.recoveryCodes ?? [])),
    last_step: enrolled?.lastStep ?? 0,
    pending_sealed: pending === undefined ? null : sealed(pending.secret),
    pending_until: pending?.untilMs ?? null,
    failed_attempts: failedAttempts,
    locked_until: lockedUntilMs === 0 ? null : lockedUntilMs,
    enrolled_at: enrolled?.enrolledAtMs ?? null,
    updated_at: nowMs,
  };
  await trx
    .insertInto('person_totp')
    .values({ person_id: personId, ...fields })
    .onConflict((conflict) => conflict.column('person_id').doUpdateSet(fields))
    .execute();
}

/** Ends the sessions that the second factor opened. `kept` continues, as a session of the password alone. */
export async function deletePersonTotp(trx: Queries, personId: string, kept?: string): Promise<void> {
  await trx.deleteFrom('person_totp').where('person_id', '=', personId).execute();
  if (kept !== undefined) await renewSessionCredential(trx, { id: kept, personId }, false);
}

/** Whether people of the organization who log in with a password need a second factor. */
export async function demandsSecondFactor(db: Queries, organizationId: string): Promise<boolean> {
  const row = await db
    .selectFrom('organization')
    .select('second_factor')
    .where('id', '=', organizationId)
    .executeTakeFirst();
  return row?.second_factor === 1;
}

function totpQuery(db: Queries, personId: string) {
  return db.selectFrom('person_totp').selectAll().where('person_id', '=', personId);
}

type TotpRow = { readonly [Name in keyof PersonTotpTable]: PersonTotpTable[Name] };

function totpOf(secrets: Sealing, row: TotpRow): PersonTotp {
  const bytesOf = (sealed: string) => Buffer.from(secrets.unseal(sealed), 'base64');
  const enrolled = row.secret_sealed !== null && {
    secret: bytesOf(row.secret_sealed),
    lastStep: Number(row.last_step),
    recoveryCodes: readCodes(secrets.unseal(row.recovery_sealed)),
    enrolledAtMs: row.enrolled_at ?? 0,
  };
  const pending = row.pending_sealed !== null && {
    secret: bytesOf(row.pending_sealed),
    untilMs: row.pending_until ?? 0,
  };
  return {
    personId: row.person_id,
    enrolled: enrolled || undefined,
    pending: pending || undefined,
    failedAttempts: row.failed_attempts,
    lockedUntilMs: row.locked_until ?? 0,
  };
}
