/**
 * Keys that sign our tokens, created here, with encrypted private halves and public halves in clear; one set per
 * purpose. A new key is stored before it signs, so that verifiers know it in time. The key that it replaces
 * verifies until its last token has expired.
 */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { FrontdoorError } from '#base';
import type { Secrets } from '../../secrets/mod.ts';
import {
  lockedForUpdate,
  type SigningKeyTable,
  type Queries,
  type Store,
  type Touch,
} from '../../store/mod.ts';

export type SigningPurpose = SigningKeyTable['purpose'];

export interface SigningKey {
  /** The `kid`. */
  readonly id: string;
  /** PKCS#8 PEM. */
  readonly privateKeyPem: string;
  /** SPKI PEM. */
  readonly publicKeyPem: string;
  readonly createdAtMs: number;
  /** From this time on it signs, until a later key does. */
  readonly activatesAtMs: number;
  /** Null: it has no end yet. */
  readonly expiresAtMs: number | null;
}

/** Creates a P-256 key for a purpose and stores it. It signs at once unless `activatesAtMs` is given. */
export async function createSigningKey(
  trx: Queries,
  touch: Touch,
  secrets: Secrets,
  purpose: SigningPurpose,
  nowMs: number,
  activatesAtMs: number = nowMs,
): Promise<SigningKey> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const id = randomUUID();
  await trx
    .insertInto('signing_key')
    .values({
      id,
      purpose,
      algorithm: 'ES256',
      private_key_sealed: secrets.seal(privateKey),
      public_key: publicKey,
      created_at: nowMs,
      activates_at: activatesAtMs,
      expires_at: null,
    })
    .execute();
  touch('signing-key', id);
  return {
    id,
    privateKeyPem: privateKey,
    publicKeyPem: publicKey,
    createdAtMs: nowMs,
    activatesAtMs,
    expiresAtMs: null,
  };
}

/** Returns the keys of a purpose that have not expired, the latest first. All of them verify. */
export async function listSigningKeys(
  db: Queries,
  secrets: Secrets,
  purpose: SigningPurpose,
  nowMs: number,
): Promise<SigningKey[]> {
  const rows = await db
    .selectFrom('signing_key')
    .selectAll()
    .where('purpose', '=', purpose)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', nowMs)]))
    .orderBy('activates_at', 'desc')
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    privateKeyPem: secrets.unseal(row.private_key_sealed),
    publicKeyPem: row.public_key,
    createdAtMs: row.created_at,
    activatesAtMs: row.activates_at,
    expiresAtMs: row.expires_at,
  }));
}

/** Returns when the newest key of a purpose signs, or undefined if there is none. The purpose's keys stay locked. */
export async function lockNewestSigningKey(
  trx: Queries,
  purpose: SigningPurpose,
): Promise<number | undefined> {
  const keys = trx.selectFrom('signing_key').select('id').where('purpose', '=', purpose).orderBy('id');
  await lockedForUpdate(trx, keys).execute();
  // Read again, because the previous holder of the lock may have added a key, which the waiting statement
  // does not see.
  const newest = await trx
    .selectFrom('signing_key')
    .select('activates_at')
    .where('purpose', '=', purpose)
    .orderBy('activates_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest?.activates_at;
}

/** Sets the end of every key of a purpose without one, except the key with this id. */
export async function endOtherSigningKeys(
  trx: Queries,
  touch: Touch,
  purpose: SigningPurpose,
  id: string,
  expiresAtMs: number,
): Promise<void> {
  const ended = await trx
    .updateTable('signing_key')
    .set({ expires_at: expiresAtMs })
    .where('purpose', '=', purpose)
    .where('id', '!=', id)
    .where('expires_at', 'is', null)
    .returning('id')
    .execute();
  for (const key of ended) touch('signing-key', key.id);
}

/** Removes keys that expired before a time. */
export async function deleteExpiredSigningKeys(
  trx: Queries,
  touch: Touch,
  purpose: SigningPurpose,
  beforeMs: number,
): Promise<number> {
  const removed = await trx
    .deleteFrom('signing_key')
    .where('purpose', '=', purpose)
    .where('expires_at', '<=', beforeMs)
    .returning('id')
    .execute();
  for (const key of removed) touch('signing-key', key.id);
  return removed.length;
}

/** Throws `invalid` if the database's secrets were encrypted with another key file. */
export async function checkKeyFile(store: Pick<Store, 'db'>, secrets: Secrets, nowMs: number): Promise<void> {
  try {
    await listSigningKeys(store.db, secrets, 'bearer', nowMs);
  } catch (cause) {
    if (!(cause instanceof FrontdoorError) || cause.code !== 'unseal-failed') throw cause;
    const message =
      'the database belongs to another secrets.key: put the key file back that it was used with';
    throw new FrontdoorError('invalid', 'key-file', message, { cause });
  }
}
