/** Passwords of people, by e-mail address. Wrong ones are counted in the row, so that all control planes count together. */
import { FrontdoorError } from '#base';
import { isUniqueViolation } from '../engine/store-errors.ts';
import type { Queries } from '../engine/store.ts';

export interface PersonPassword {
  readonly personId: string;
  /** In lower case. */
  readonly email: string;
  /** argon2id, as a PHC string. */
  readonly passwordHash: string;
}

/** Stores the password of a person, in place of an earlier one, and unlocks it. Throws `conflict` for a taken address. */
export async function putPersonPassword(
  trx: Queries,
  { personId, email, passwordHash }: PersonPassword,
  nowMs: number,
): Promise<void> {
  const changed = { email, ...newPassword(passwordHash, nowMs) };
  await trx
    .insertInto('person_password')
    .values({ person_id: personId, ...changed })
    .onConflict((conflict) => conflict.column('person_id').doUpdateSet(changed))
    .execute()
    .catch((error: unknown) => {
      if (!isUniqueViolation(error)) throw error;
      throw new FrontdoorError('conflict', 'conflict', `The e-mail address ${email} is taken`);
    });
}

/** Replaces the password, and unlocks it. Returns false if it has not the hash `former` any more. */
export async function replacePersonPassword(
  trx: Queries,
  personId: string,
  former: string,
  passwordHash: string,
  nowMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('person_password')
    .set(newPassword(passwordHash, nowMs))
    .where('person_id', '=', personId)
    .where('password_hash', '=', former)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** A new password is not locked, and ends the link for another one. */
function newPassword(passwordHash: string, nowMs: number) {
  const open = { failed_attempts: 0, locked_until: null, link_hmac: null, link_expires_at: null };
  return { password_hash: passwordHash, ...open, updated_at: nowMs };
}

/** The password with the organization of its person. */
export interface KnownPassword extends PersonPassword {
  readonly organizationId: string;
}

export async function findPersonPassword(db: Queries, email: string): Promise<KnownPassword | undefined> {
  const row = await db
    .selectFrom('person_password')
    .innerJoin('person', 'person.id', 'person_password.person_id')
    .select(['person_id', 'person_password.email', 'password_hash', 'organization_id'])
    .where('person_password.email', '=', email)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { person_id: personId, organization_id: organizationId, password_hash: passwordHash } = row;
  return { personId, organizationId, email: row.email, passwordHash };
}

export async function hasPassword(db: Queries, personId: string): Promise<boolean> {
  return (await passwordOf(db, personId)) !== undefined;
}

/** Returns the e-mail address of the person's password, and when it was set; undefined for a person without one. */
export async function passwordOf(
  db: Queries,
  personId: string,
): Promise<{ readonly email: string; readonly setAtMs: number } | undefined> {
  const row = await db
    .selectFrom('person_password')
    .select(['email', 'updated_at'])
    .where('person_id', '=', personId)
    .executeTakeFirst();
  return row && { email: row.email, setAtMs: row.updated_at };
}

/**
 * Counts an attempt before it is examined, so that attempts at once are counted, too. Returns false while the password
 * is locked, which `maxAttempts` wrong ones in a row do for `lockMs`. A lock that would last longer was made before the
 * clock was set back, and is over.
 */
export async function countPersonAttempt(
  db: Queries,
  personId: string,
  {
    nowMs,
    maxAttempts,
    lockMs,
  }: { readonly nowMs: number; readonly maxAttempts: number; readonly lockMs: number },
): Promise<boolean> {
  const counted = await db
    .updateTable('person_password')
    .set(({ eb, ref }) => ({
      failed_attempts: eb
        .case()
        .when('failed_attempts', '>=', maxAttempts)
        .then(1)
        .else(eb('failed_attempts', '+', 1))
        .end(),
      locked_until: eb
        .case()
        .when('failed_attempts', '=', maxAttempts - 1)
        .then(eb.cast<number>(eb.val(nowMs + lockMs), 'bigint'))
        .else(ref('locked_until'))
        .end(),
    }))
    .where('person_id', '=', personId)
    .where((eb) =>
      eb.or([
        eb('locked_until', 'is', null),
        eb('locked_until', '<=', nowMs),
        eb('locked_until', '>', nowMs + lockMs),
      ]),
    )
    .returning('failed_attempts')
    .executeTakeFirst();
  return counted !== undefined;
}

/** A right password ends the count. Returns false if the password has not this hash any more. */
export async function endPersonAttempts(
  db: Queries,
  personId: string,
  passwordHash: string,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('person_password')
    .set({ failed_attempts: 0, locked_until: null })
    .where('person_id', '=', personId)
    .where('password_hash', '=', passwordHash)
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}
