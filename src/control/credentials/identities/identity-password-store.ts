/** User names and passwords of identities. A user name belongs to one identity. */
import { FrontdoorError } from '#base';
import { isUniqueViolation, type Queries } from '../../store/mod.ts';

export interface IdentityPassword {
  readonly identityId: string;
  readonly username: string;
  /** argon2id, as a PHC string. */
  readonly passwordHash: string;
}

/** Stores the password of an identity, instead of an earlier one, and unlocks it. Throws `conflict` for a taken user name. */
export async function putIdentityPassword(
  trx: Queries,
  { identityId, username, passwordHash }: IdentityPassword,
  nowMs: number,
): Promise<void> {
  const open = { failed_attempts: 0, locked_until: null };
  const changed = { username, password_hash: passwordHash, ...open, updated_at: nowMs };
  await trx
    .insertInto('identity_password')
    .values({ identity_id: identityId, ...changed, created_at: nowMs })
    .onConflict((conflict) => conflict.column('identity_id').doUpdateSet(changed))
    .execute()
    .catch((error: unknown) => {
      if (!isUniqueViolation(error)) throw error;
      throw new FrontdoorError('conflict', 'conflict', `The user name ${username} is taken`);
    });
}

export async function findIdentityPassword(
  db: Queries,
  username: string,
): Promise<IdentityPassword | undefined> {
  const row = await db
    .selectFrom('identity_password')
    .selectAll()
    .where('username', '=', username)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return { identityId: row.identity_id, username: row.username, passwordHash: row.password_hash };
}

export interface StoredUserName {
  readonly identityId: string;
  readonly username: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Returns the user names of all identities with a password, or of one, by name. */
export async function userNames(db: Queries, identityId?: string): Promise<StoredUserName[]> {
  const all = db
    .selectFrom('identity_password')
    .select(['identity_id', 'username', 'created_at', 'updated_at'])
    .orderBy('username');
  const rows = await (identityId === undefined ? all : all.where('identity_id', '=', identityId)).execute();
  return rows.map((row) => ({
    identityId: row.identity_id,
    username: row.username,
    createdAtMs: Number(row.created_at),
    updatedAtMs: Number(row.updated_at),
  }));
}

export async function deleteIdentityPassword(trx: Queries, identityId: string): Promise<void> {
  await trx.deleteFrom('identity_password').where('identity_id', '=', identityId).execute();
}

/** Whether the identity had its password before that time: a log-in that was under way then ends with an earlier one. */
export async function hasPasswordSince(db: Queries, identityId: string, beforeMs: number): Promise<boolean> {
  const row = await db
    .selectFrom('identity_password')
    .select('identity_id')
    .where('identity_id', '=', identityId)
    .where('updated_at', '<', beforeMs)
    .executeTakeFirst();
  return row !== undefined;
}

export interface PasswordAttempt {
  /** Attempts since the last right one, with this one. */
  readonly attempts: number;
  readonly isLocked: boolean;
}

/** Counts an attempt before it is examined, so that attempts at once are counted, too. A lock that is over counts again. */
export async function countPasswordAttempt(
  db: Queries,
  identityId: string,
  nowMs: number,
): Promise<PasswordAttempt> {
  await db
    .updateTable('identity_password')
    .set({ failed_attempts: 0, locked_until: null })
    .where('identity_id', '=', identityId)
    .where('locked_until', '<=', nowMs)
    .execute();
  const row = await db
    .updateTable('identity_password')
    .set(({ eb }) => ({ failed_attempts: eb('failed_attempts', '+', 1) }))
    .where('identity_id', '=', identityId)
    .where('locked_until', 'is', null)
    .returning('failed_attempts')
    .executeTakeFirst();
  return { attempts: row?.failed_attempts ?? 0, isLocked: row === undefined };
}

/** `lockedUntilMs` is null after a right password. */
export async function endPasswordAttempts(
  db: Queries,
  identityId: string,
  lockedUntilMs: number | null,
): Promise<void> {
  await db
    .updateTable('identity_password')
    .set({ failed_attempts: 0, locked_until: lockedUntilMs })
    .where('identity_id', '=', identityId)
    .execute();
}
