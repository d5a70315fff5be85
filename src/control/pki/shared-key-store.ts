/**
 * Private keys that all control planes over the database use, encrypted with the key file. Earlier versions kept one for
 * each control plane in a file of its data directory, which is imported if the database has none.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '#base';
import { setAside } from '#net/files';
import { privateKeyIn, readIfThere, type AuthorityShelf } from './authority-store.ts';

/**
 * Returns the stored key of that name, otherwise that of an earlier file `<name>.key`, otherwise the result of `make`. Of
 * several processes that start at once, one stores its own and all use it. The file is removed.
 */
export async function keepSharedKey(
  shelf: AuthorityShelf,
  name: string,
  make: () => KeyObject,
  log: Log,
): Promise<KeyObject> {
  const { db, secrets, folder, nowMs } = shelf;
  const path = join(folder, `${name}.key`);
  const earlierPem = await readIfThere(path);
  const earlierKey = earlierPem === undefined ? undefined : privateKeyIn(earlierPem);
  let kept = await findKey(shelf, name);
  if (kept === undefined) {
    const key = earlierKey ?? make();
    await db
      .insertInto('shared_key')
      .values({ name, key_sealed: secrets.seal(pemOf(key)), created_at: nowMs })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
    kept = (await findKey(shelf, name))!;
  }
  if (earlierPem !== undefined) {
    if (earlierKey === undefined || pemOf(earlierKey) !== pemOf(kept))
      log.warn(
        { file: path },
        'another key replaces the one of this file: create enrollment tokens again that this control plane issued before',
      );
    if (earlierKey === undefined) await setAside(path);
    else await rm(path, { force: true });
  }
  return kept;
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
