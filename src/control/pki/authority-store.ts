/**
 * The overlay's authorities in the database, with keys encrypted with the key file: one pair for all control
 * planes over the database and in every backup, and useless without the key file. Earlier versions kept them in
 * files, which are imported once.
 */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FrontdoorError } from '#base';
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
  /** Folder in which an earlier version may have left `<name>.key` and `<name>.crt`. */
  readonly folder: string;
  readonly nowMs: number;
}

/**
 * Returns the stored pair of that name, otherwise that of earlier files, otherwise the result of `make`. Of
 * several processes that start at once, one stores its own and all use it. Throws `invalid` if the files contain
 * another authority than the database.
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
    throw new FrontdoorError('invalid', 'authority-differs', message);
  }
  // Also removes a key whose certificate was never written, because it has signed nothing.
  await rm(keyPath, { force: true });
  return kept;
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

async function earlierPair(keyPath: string, certificatePath: string): Promise<AuthorityPair | undefined> {
  const keyPem = await readIfThere(keyPath);
  const certificatePem = keyPem === undefined ? undefined : await readIfThere(certificatePath);
  if (keyPem === undefined || certificatePem === undefined) return undefined;
  const key = privateKeyIn(keyPem);
  const certificate = certificateIn(certificatePem);
  const problem =
    key === undefined
      ? `${keyPath} holds no private key`
      : certificate === undefined
        ? `${certificatePath} holds no certificate`
        : certificate.checkPrivateKey(key)
          ? undefined
          : `${keyPath} is not the private key of ${certificatePath}`;
  if (problem !== undefined) {
    const message = `${problem}: restore both files of an earlier version, or move both away if the database has them`;
    throw new FrontdoorError('invalid', 'authority-files', message);
  }
  return { certificatePem, keyPem };
}

/** Returns undefined if the text is no private key in PEM. The parser's message would say nothing to its reader. */
export function privateKeyIn(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

function certificateIn(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
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
