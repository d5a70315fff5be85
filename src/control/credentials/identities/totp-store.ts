/** One-time passwords of identities as second factor: the secret, the last step that was used, and recovery codes. */
import { randomUUID } from 'node:crypto';
import { jsonReader, Part } from '#base/shapes';
import type { Secrets } from '../../secrets/mod.ts';
import { lockedForUpdate, type Queries } from '../../store/mod.ts';

const readCodes = jsonReader(Part.texts());

export interface IdentityTotp {
  readonly id: string;
  readonly identityId: string;
  readonly secret: Uint8Array;
  /** False until the identity has shown a first code. */
  readonly isVerified: boolean;
  /** The step of the last code that was accepted. */
  readonly lastStep: number;
  /** Each replaces a code once. */
  readonly recoveryCodes: readonly string[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

type Sealing = Pick<Secrets, 'seal' | 'unseal'>;

/** Returns false if the identity has one. */
export async function insertTotp(
  trx: Queries,
  secrets: Sealing,
  identityId: string,
  { secret, recoveryCodes }: Pick<IdentityTotp, 'secret' | 'recoveryCodes'>,
  nowMs: number,
): Promise<boolean> {
  const inserted = await trx
    .insertInto('identity_totp')
    .values({
      identity_id: identityId,
      id: randomUUID(),
      secret_sealed: secrets.seal(Buffer.from(secret).toString('base64')),
      recovery_sealed: secrets.seal(JSON.stringify(recoveryCodes)),
      is_verified: 0,
      last_step: 0,
      created_at: nowMs,
      updated_at: nowMs,
    })
    .onConflict((conflict) => conflict.column('identity_id').doNothing())
    .returning('id')
    .executeTakeFirst();
  return inserted !== undefined;
}

export async function findTotp(
  db: Queries,
  secrets: Sealing,
  identityId: string,
): Promise<IdentityTotp | undefined> {
  return read(secrets, db.selectFrom('identity_totp').selectAll().where('identity_id', '=', identityId));
}

/** Reads it like `findTotp`, and keeps other transactions from changing it. */
export async function lockTotp(
  trx: Queries,
  secrets: Sealing,
  identityId: string,
): Promise<IdentityTotp | undefined> {
  const query = trx.selectFrom('identity_totp').selectAll().where('identity_id', '=', identityId);
  return read(secrets, lockedForUpdate(trx, query));
}

/** Stores the changed fields of a locked one. */
export async function changeTotp(
  trx: Queries,
  secrets: Sealing,
  { identityId, isVerified, lastStep, recoveryCodes }: IdentityTotp,
  nowMs: number,
): Promise<void> {
  await trx
    .updateTable('identity_totp')
    .set({
      is_verified: isVerified ? 1 : 0,
      last_step: lastStep,
      recovery_sealed: secrets.seal(JSON.stringify(recoveryCodes)),
      updated_at: nowMs,
    })
    .where('identity_id', '=', identityId)
    .execute();
}

export async function deleteTotp(trx: Queries, identityId: string): Promise<void> {
  await trx.deleteFrom('identity_totp').where('identity_id', '=', identityId).execute();
}

/** Returns the identities whose log-ins need a code. */
export async function identitiesWithTotp(db: Queries): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('identity_totp')
    .select('identity_id')
    .where('is_verified', '=', 1)
    .execute();
  return new Set(rows.map(({ identity_id }) => identity_id));
}

/** Whether a log-in of the identity needs a code. */
export async function needsTotp(db: Queries, identityId: string): Promise<boolean> {
  const row = await db
    .selectFrom('identity_totp')
    .select('id')
    .where('identity_id', '=', identityId)
    .where('is_verified', '=', 1)
    .executeTakeFirst();
  return row !== undefined;
}

interface TotpQuery {
  executeTakeFirst(): Promise<
    | {
        readonly id: string;
        readonly identity_id: string;
        readonly secret_sealed: string;
        readonly recovery_sealed: string;
        readonly is_verified: number;
        readonly last_step: number;
        readonly created_at: number;
        readonly updated_at: number;
      }
    | undefined
  >;
}

async function read(secrets: Sealing, query: TotpQuery): Promise<IdentityTotp | undefined> {
  const row = await query.executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    id: row.id,
    identityId: row.identity_id,
    secret: Buffer.from(secrets.unseal(row.secret_sealed), 'base64'),
    isVerified: row.is_verified === 1,
    lastStep: Number(row.last_step),
    recoveryCodes: readCodes(secrets.unseal(row.recovery_sealed)),
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
  };
}
