/** Keys that sign our tokens: made here, private halves sealed, public halves in clear; one set per purpose. */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import type { Secrets } from '../secrets/secrets.ts';
import type { SigningKeyTable } from './schema.ts';
import type { Queries, Touch } from './store.ts';

export type SigningPurpose = SigningKeyTable['purpose'];

export interface SigningKey {
  /** The `kid`. */
  readonly id: string;
  /** PKCS#8 PEM. */
  readonly privateKeyPem: string;
  /** SPKI PEM. */
  readonly publicKeyPem: string;
  readonly createdAtMs: number;
  /** Null: no end is set. */
  readonly expiresAtMs: number | null;
}

/** Makes a P-256 key for a purpose and stores it. */
export async function createSigningKey(
  trx: Queries,
  touch: Touch,
  secrets: Secrets,
  purpose: SigningPurpose,
  nowMs: number,
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
      expires_at: null,
    })
    .execute();
  touch('signing-key', id);
  return { id, privateKeyPem: privateKey, publicKeyPem: publicKey, createdAtMs: nowMs, expiresAtMs: null };
}

/** The keys of a purpose that have not expired, newest first: the first signs, all verify. */
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
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    privateKeyPem: secrets.unseal(row.private_key_sealed),
    publicKeyPem: row.public_key,
    createdAtMs: row.created_at,
    expiresAtMs: row.expires_at,
  }));
}
