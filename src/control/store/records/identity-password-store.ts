/** User names and passwords of identities. A user name belongs to one identity. */
import { FrontdoorError } from '#base';
import { isUniqueViolation } from '../engine/store-errors.ts';
import type { Queries } from '../engine/store.ts';

export interface IdentityPassword {
  readonly identityId: string;
  readonly username: string;
  /** argon2id, as a PHC string. */
  readonly passwordHash: string;
}

/** Stores the password of an identity, in place of an earlier one. Throws `conflict` for a taken user name. */
export async function putIdentityPassword(
  trx: Queries,
  { identityId, username, passwordHash }: IdentityPassword,
  nowMs: number,
): Promise<void> {
  const changed = { username, password_hash: passwordHash, updated_at: nowMs };
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
