/** Log-ins at the edge management API. Each request looks its session up, so that an end holds everywhere at once. */
import { randomUUID } from 'node:crypto';
import type { Secrets } from '../../secrets/mod.ts';
import type { Database, Queries } from '../../store/mod.ts';
import type { EdgeEntityRecord } from '../records/edge-entity.ts';
import { findEdgeEntity } from '../records/edge-entity-store.ts';

export interface ManagementSession {
  readonly id: string;
  readonly identityId: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** The oldest sessions of an identity end when it has more. */
export const MAX_MANAGEMENT_SESSIONS = 200;
const IDS_A_STATEMENT = 500;

/** Removes what has ended. Only the result contains the token. */
export async function openManagementSession(
  trx: Queries,
  secrets: Secrets,
  {
    identityId,
    method,
  }: { readonly identityId: string; readonly method: Database['management_session']['method'] },
  nowMs: number,
  lifetimeMs: number,
): Promise<ManagementSession & { readonly token: string }> {
  await trx.deleteFrom('management_session').where('expires_at', '<=', nowMs).execute();
  const kept = trx
    .selectFrom('management_session')
    .select('id')
    .where('identity_id', '=', identityId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(MAX_MANAGEMENT_SESSIONS - 1);
  await trx
    .deleteFrom('management_session')
    .where('identity_id', '=', identityId)
    .where('id', 'not in', kept)
    .execute();
  const token = randomUUID();
  const session = { id: randomUUID(), identityId, createdAtMs: nowMs, expiresAtMs: nowMs + lifetimeMs };
  await trx
    .insertInto('management_session')
    .values({
      id: session.id,
      identity_id: identityId,
      token_hmac: secrets.hmac(token),
      method,
      created_at: nowMs,
      expires_at: session.expiresAtMs,
    })
    .execute();
  return { ...session, token };
}

/** Returns the session of a token if it has not expired and its identity is still an administrator. */
export async function findAdministratorSession(
  db: Queries,
  secrets: Secrets,
  token: string,
  nowMs: number,
): Promise<{ readonly session: ManagementSession; readonly identity: EdgeEntityRecord } | undefined> {
  const row = await db
    .selectFrom('management_session')
    .selectAll()
    .where('token_hmac', '=', secrets.hmac(token))
    .where('expires_at', '>', nowMs)
    .executeTakeFirst();
  const identity = row && (await findEdgeEntity(db, 'identity', row.identity_id));
  return identity?.data['isAdmin'] === true ? { session: sessionOf(row!), identity } : undefined;
}

/** Sets a later expiry, for a session in use. */
export async function extendManagementSession(db: Queries, id: string, expiresAtMs: number): Promise<void> {
  await db.updateTable('management_session').set({ expires_at: expiresAtMs }).where('id', '=', id).execute();
}

export async function endManagementSession(db: Queries, id: string): Promise<void> {
  await db.deleteFrom('management_session').where('id', '=', id).execute();
}

/** Ends the log-ins of these identities as administrators. */
export async function endManagementSessionsOf(trx: Queries, identityIds: readonly string[]): Promise<void> {
  for (let at = 0; at < identityIds.length; at += IDS_A_STATEMENT)
    await trx
      .deleteFrom('management_session')
      .where('identity_id', 'in', identityIds.slice(at, at + IDS_A_STATEMENT))
      .execute();
}

function sessionOf(row: {
  readonly id: string;
  readonly identity_id: string;
  readonly created_at: number;
  readonly expires_at: number;
}): ManagementSession {
  return {
    id: row.id,
    identityId: row.identity_id,
    createdAtMs: Number(row.created_at),
    expiresAtMs: Number(row.expires_at),
  };
}
