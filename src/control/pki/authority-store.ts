/**
 * The overlay's authorities in the database, keys sealed with the key file: one pair for every control plane over it,
 * in every backup, and worth nothing without the key file. Earlier versions kept them as files: taken in once.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FrontdoorError } from '#base';
import type { Secrets } from '../secrets/mod.ts';
import type { Queries } from '../store/mod.ts';

/** A certificate and its key, both PEM (the key as PKCS#8). */
export interface AuthorityPair {
  readonly certificatePem: string;
  readonly keyPem: string;
}

export interface AuthorityShelf {
  readonly db: Queries;
  readonly secrets: Pick<Secrets, 'seal' | 'unseal'>;
  /** Where an earlier version may have left `<name>.key` and `<name>.crt`. */
  readonly folder: string;
  readonly nowMs: number;
}

/**
 * The stored pair of that name, else the one of earlier files, else what `make` makes. Of several that start at once,
 * one stores its own and all use that. Throws `invalid` when the files are another authority than the database's.
 */
export async function keepAuthority(
  shelf: AuthorityShelf,
  name: string,
  make: () => Promise<AuthorityPair>,
): Promise<AuthorityPair> {
  const { db, secrets, folder, nowMs } = shelf;
  const keyPath = join(folder, `${name}.key`);
  const earlier = await earlierPair(keyPath, join(folder, `${name}.crt`));
  let kept = await findPair(shelf, name);
  if (kept === undefined) {
    const { certificatePem, keyPem } = earlier ?? (await make());
    await db
      .insertInto('authority')
      .values({ name, certificate_pem: certificatePem, key_sealed: secrets.seal(keyPem), created_at: nowMs })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
    kept = (await findPair(shelf, name))!;
  }
  if (earlier !== undefined && earlier.certificatePem !== kept.certificatePem) {
    const message = `${keyPath} is of another authority than the database's: move it away`;
    throw new FrontdoorError('invalid', 'authority_differs', message);
  }
  // Also a key whose certificate was never written: nothing was signed with it.
  await rm(keyPath, { force: true });
  return kept;
}

async function findPair(
  { db, secrets }: Pick<AuthorityShelf, 'db' | 'secrets'>,
  name: string,
): Promise<AuthorityPair | undefined> {
  const row = await db.selectFrom('authority').selectAll().where('name', '=', name).executeTakeFirst();
  if (row === undefined) return undefined;
  return { certificatePem: row.certificate_pem, keyPem: secrets.unseal(row.key_sealed) };
}

async function earlierPair(keyPath: string, certificatePath: string): Promise<AuthorityPair | undefined> {
  const keyPem = await readIfThere(keyPath);
  const certificatePem = keyPem === undefined ? undefined : await readIfThere(certificatePath);
  if (keyPem === undefined || certificatePem === undefined) return undefined;
  if (!new X509Certificate(certificatePem).checkPrivateKey(createPrivateKey(keyPem))) {
    const message = `${keyPath} is not the private key of ${certificatePath}`;
    throw new FrontdoorError('invalid', 'authority_files', message);
  }
  return { certificatePem, keyPem };
}

/** A file's text; undefined when there is none. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
