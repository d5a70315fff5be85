/**
 * Sessions of people who logged in at shares, in the store, with the token as an HMAC. Whether a session is still
 * valid is decided by the current provider and share, not by those at its creation.
 */
import { randomUUID } from 'node:crypto';
import type { CallerIdentity } from '#domain/access';
import type { GatewaySession } from '#domain/gateway-shapes';
import { readAlone } from '#net';
import { randomToken, type Secrets } from '../../secrets/mod.ts';
import type { LoginSessionTable, Queries, Touch } from '../../store/mod.ts';
import { readIdentity } from './identity-column.ts';

/** Limit for one person at one share; the oldest are removed. */
const MAX_SESSIONS_A_PERSON = 100;
const ROWS_A_STATEMENT = 500;

export interface NewLoginSession {
  readonly shareId: string;
  readonly host: string;
  readonly providerId: string;
  readonly providerVersion: number;
  readonly identity: CallerIdentity;
  readonly absoluteMs: number;
  readonly nowMs: number;
}

/** `token` is sent to the browser and not stored. */
export async function insertSession(
  trx: Queries,
  touch: Touch,
  secrets: Secrets,
  made: NewLoginSession,
): Promise<{ readonly token: string; readonly session: GatewaySession }> {
  const { nowMs, identity } = made;
  const token = randomToken();
  const row: LoginSessionTable = {
    id: randomUUID(),
    token_hmac: secrets.hmac(token),
    share_id: made.shareId,
    auth_provider_id: made.providerId,
    provider_version: made.providerVersion,
    host: made.host,
    subject: identity.subject,
    email: identity.email,
    identity: JSON.stringify(identity),
    created_at: nowMs,
    last_used_at: nowMs,
    expires_at: nowMs + made.absoluteMs,
  };
  await trx.insertInto('login_session').values(row).execute();
  const older = await trx
    .selectFrom('login_session')
    .select('id')
    .where('share_id', '=', made.shareId)
    .where('auth_provider_id', '=', made.providerId)
    .where('subject', '=', identity.subject)
    .where('id', '!=', row.id)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .offset(MAX_SESSIONS_A_PERSON - 1)
    .limit(ROWS_A_STATEMENT)
    .execute();
  await endSessions(
    trx,
    touch,
    older.map(({ id }) => id),
  );
  return { token, session: sessionOf(row, identity) };
}

/** Returns undefined if there is none, it has expired, or its identity is damaged. */
export async function findSession(
  db: Queries,
  secrets: Secrets,
  token: string,
  nowMs: number,
): Promise<GatewaySession | undefined> {
  const row = await db
    .selectFrom('login_session')
    .selectAll()
    .where('token_hmac', '=', secrets.hmac(token))
    .where('expires_at', '>', nowMs)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const identity = readAlone(`the session ${row.id} of the store`, () => readIdentity(row.identity));
  return identity && sessionOf(row, identity);
}

/** Every gateway is notified. */
export async function endSessions(trx: Queries, touch: Touch, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const ended = await trx.deleteFrom('login_session').where('id', 'in', ids).returning('id').execute();
  for (const { id } of ended) touch('login-session', id);
}

/** Ends all sessions of a share under one of its names, which would count again if the share got the name back. */
export async function endSessionsAt(
  trx: Queries,
  touch: Touch,
  shareId: string,
  host: string,
): Promise<void> {
  for (;;) {
    const rows = await trx
      .selectFrom('login_session')
      .select('id')
      .where('share_id', '=', shareId)
      .where('host', '=', host)
      .limit(ROWS_A_STATEMENT)
      .execute();
    if (rows.length === 0) return;
    await endSessions(
      trx,
      touch,
      rows.map(({ id }) => id),
    );
  }
}

function sessionOf(row: LoginSessionTable, identity: CallerIdentity): GatewaySession {
  return {
    id: row.id,
    shareId: row.share_id,
    host: row.host,
    providerId: row.auth_provider_id,
    providerVersion: row.provider_version,
    identity,
    createdAtMs: row.created_at,
    lastUsedAtMs: row.last_used_at,
  };
}
