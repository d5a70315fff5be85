/**
 * The overlay's authorities in the database, with keys encrypted with the key file: one pair for all control
 * planes over the database and in every backup, and useless without the key file.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Secrets } from '../secrets/mod.ts';
import type { Queries } from '../store/mod.ts';

/** A certificate and its key as PEM (the key as PKCS#8). */
export interface AuthorityPair {
  readonly certificatePem: string;
  readonly keyPem: string;
}

export interface AuthorityShelf {
  readonly db: Queries;
  readonly secrets: Pick<Secrets, 'seal' | 'unseal'>;
  readonly nowMs: number;
}

/**
 * Returns the stored pair of that name, otherwise the result of `make`. Of several processes that start at once, one stores its
 * own and all use it.
 */
export async function keepAuthority(
  shelf: AuthorityShelf,
  name: string,
  make: () => Promise<AuthorityPair>,
): Promise<AuthorityPair> {
  const { db, secrets, nowMs } = shelf;
  const kept = await findPair(shelf, name);
  if (kept !== undefined) return kept;
  const { certificatePem, keyPem } = await make();
  await db
    .insertInto('authority')
    .values({ name, certificate_pem: certificatePem, key_sealed: secrets.seal(keyPem), created_at: nowMs })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  return (await findPair(shelf, name))!;
}

/**
 * Stores another certificate for the key of the pair. Returns the stored pair: that of another control plane, if it was
 * first.
 */
export async function replaceCertificate(
  shelf: Pick<AuthorityShelf, 'db' | 'secrets'>,
  name: string,
  before: AuthorityPair,
  certificatePem: string,
): Promise<AuthorityPair> {
  await shelf.db
    .updateTable('authority')
    .set({ certificate_pem: certificatePem })
    .where('name', '=', name)
    .where('certificate_pem', '=', before.certificatePem)
    .execute();
  return (await findPair(shelf, name)) ?? before;
}

async function findPair(
  { db, secrets }: Pick<AuthorityShelf, 'db' | 'secrets'>,
  name: string,
): Promise<AuthorityPair | undefined> {
  const row = await db.selectFrom('authority').selectAll().where('name', '=', name).executeTakeFirst();
  if (row === undefined) return undefined;
  return { certificatePem: row.certificate_pem, keyPem: secrets.unseal(row.key_sealed) };
}

/** Returns undefined if the text is no private key in PEM. The parser's message would say nothing to its reader. */
export function privateKeyIn(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

/** Returns a file's text, or undefined if there is none. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
