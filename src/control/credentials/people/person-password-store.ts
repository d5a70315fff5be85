/** Passwords of people, by e-mail address. Wrong ones are counted in the row, so that all control planes count together. */
import { FrontdoorError } from '#base';
import { isLikeHash, UnlikeHash } from '../passwords/password-hash.ts';
import { lockedByName, isUniqueViolation, type Queries } from '../../store/mod.ts';

export interface PersonPassword {
  readonly personId: string;
  /** In lower case. */
  readonly email: string;
  /** argon2id, as a PHC string. */
  readonly passwordHash: string;
}

/**
 * Passwords of one address are examined together, so they have one salt. Until the transaction ends, no other one stores a
 * password of the address. Throws `UnlikeHash`.
 */
async function keepOneSalt(trx: Queries, { personId, email, passwordHash }: PersonPassword): Promise<void> {
  await lockedByName(trx, `passwords of ${email}`);
  const others = await findPersonPasswords(trx, email);
  const unlike = others.filter((other) => other.personId !== personId);
  if (unlike.length > 0 && !unlike.some((other) => isLikeHash(other.passwordHash, passwordHash)))
    throw new UnlikeHash();
}

/**
 * Stores the password of a person, instead of an earlier one, and unlocks it. Throws `conflict` for an address that another
 * person of the organization has, and `UnlikeHash`.
 */
export async function putPersonPassword(
  trx: Queries,
  { personId, email, passwordHash }: PersonPassword,
  nowMs: number,
): Promise<void> {
  await keepOneSalt(trx, { personId, email, passwordHash });
  const changed = { email, ...newPassword(passwordHash, nowMs) };
  await trx
    .insertInto('person_password')
    .values(({ selectFrom }) => ({
      person_id: personId,
      organization_id: selectFrom('person').select('organization_id').where('id', '=', personId),
      ...changed,
    }))
    .onConflict((conflict) => conflict.column('person_id').doUpdateSet(changed))
    .execute()
    .catch((error: unknown) => {
      if (!isUniqueViolation(error)) throw error;
      throw new FrontdoorError(
        'conflict',
        'conflict',
        `Another person of the organization has the e-mail address ${email}`,
      );
    });
}

/** Replaces the password, and unlocks it. Returns false if it no longer has the hash `former`. Throws `UnlikeHash`. */
export async function replacePersonPassword(
  trx: Queries,
  password: PersonPassword,
  former: string,
  nowMs: number,
): Promise<boolean> {
  const { personId, passwordHash } = password;
  await keepOneSalt(trx, password);
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

/** People of so many organizations with one address are examined at a log-in. */
const MAX_HOLDERS = 100;

/**
 * Returns the passwords of an address, one for each organization in which a person has it, those who were seen last first:
 * of `personId` alone, or of one organization alone, if it is given.
 */
export async function findPersonPasswords(
  db: Queries,
  email: string,
  only: { readonly personId?: string | undefined; readonly organizationId?: string | undefined } = {},
): Promise<readonly KnownPassword[]> {
  let query = db
    .selectFrom('person_password')
    .innerJoin('person', 'person.id', 'person_password.person_id')
    .select(['person_id', 'person_password.email', 'password_hash', 'person.organization_id'])
    .where('person_password.email', '=', email)
    .orderBy(({ fn, val }) => fn.coalesce('person.last_seen_at', val(0)), 'desc')
    .orderBy('person_id')
    .limit(MAX_HOLDERS);
  if (only.personId !== undefined) query = query.where('person_id', '=', only.personId);
  if (only.organizationId !== undefined)
    query = query.where('person.organization_id', '=', only.organizationId);
  const rows = await query.execute();
  return rows.map(
    ({ person_id: personId, organization_id: organizationId, password_hash: passwordHash, email }) => ({
      personId,
      organizationId,
      email,
      passwordHash,
    }),
  );
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

export interface LockRule {
  readonly nowMs: number;
  readonly maxAttempts: number;
  readonly lockMs: number;
}

/**
 * Counts an attempt for each of the people before it is examined, so that attempts at once are counted, too. Returns those
 * whose password is not locked, which `maxAttempts` wrong ones in a row do for `lockMs`. A lock that would last longer was
 * made before the clock was set back, and is over.
 */
export async function countPersonAttempts(
  db: Queries,
  personIds: readonly string[],
  { nowMs, maxAttempts, lockMs }: LockRule,
): Promise<ReadonlySet<string>> {
  if (personIds.length === 0) return new Set();
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
    .where('person_id', 'in', personIds)
    .where((eb) =>
      eb.or([
        eb('locked_until', 'is', null),
        eb('locked_until', '<=', nowMs),
        eb('locked_until', '>', nowMs + lockMs),
      ]),
    )
    .returning('person_id')
    .execute();
  return new Set(counted.map(({ person_id: id }) => id));
}

/** Takes back what `countPersonAttempts` counted for these people: the password was that of another one with the address. */
export async function uncountPersonAttempts(
  db: Queries,
  personIds: readonly string[],
  { maxAttempts }: Pick<LockRule, 'maxAttempts'>,
): Promise<void> {
  if (personIds.length === 0) return;
  await db
    .updateTable('person_password')
    .set(({ eb, ref }) => ({
      failed_attempts: eb('failed_attempts', '-', 1),
      locked_until: eb
        .case()
        .when('failed_attempts', '=', maxAttempts)
        .then(null)
        .else(ref('locked_until'))
        .end(),
    }))
    .where('person_id', 'in', personIds)
    .where('failed_attempts', '>', 0)
    .execute();
}

/** A right password ends the count. Returns false if the password has no longer this hash. */
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
