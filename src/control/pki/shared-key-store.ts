/** Private keys that all control planes over the database use, encrypted with the key file. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { AuthorityShelf } from './authority-store.ts';

/** Makes the key of the edge API. Tests replace it, because a new RSA key takes as long as the rest of a small test. */
export const edgeApiKey = {
  make: (): KeyObject => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
};

/**
 * Returns the stored key of that name, otherwise the result of `make`. Of several processes that start at once, one stores its
 * own and all use it.
 */
export async function keepSharedKey(
  shelf: AuthorityShelf,
  name: string,
  make: () => KeyObject,
): Promise<KeyObject> {
  const { db, secrets, nowMs } = shelf;
  const kept = await findKey(shelf, name);
  if (kept !== undefined) return kept;
  await db
    .insertInto('shared_key')
    .values({ name, key_sealed: secrets.seal(pemOf(make())), created_at: nowMs })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  return (await findKey(shelf, name))!;
}

async function findKey(
  { db, secrets }: Pick<AuthorityShelf, 'db' | 'secrets'>,
  name: string,
): Promise<KeyObject | undefined> {
  const row = await db
    .selectFrom('shared_key')
    .select('key_sealed')
    .where('name', '=', name)
    .executeTakeFirst();
  return row === undefined ? undefined : createPrivateKey(secrets.unseal(row.key_sealed));
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' });
}
