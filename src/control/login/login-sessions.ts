/**
 * Sessions of people who logged in at shares, in the store: the token as its HMAC. Whether one still stands is judged by
 * what provider and share are now, not by what they were when it was made.
 */
import { randomUUID } from 'node:crypto';
import type { CallerIdentity, GatewaySession } from '#domain';
import { randomToken, type Secrets } from '../secrets/mod.ts';
import type { LoginSessionTable, Queries, Touch } from '../store/mod.ts';

/** Of one person at one share; the oldest go. */
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

/** `token` is shown to the browser and stands nowhere. */
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
  return { token, session: sessionOf(row) };
}

/** Undefined: there is none, or its time is over. */
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
  return row === undefined ? undefined : sessionOf(row);
}

/** Every gateway is told. */
export async function endSessions(trx: Queries, touch: Touch, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  const ended = await trx.deleteFrom('login_session').where('id', 'in', ids).returning('id').execute();
  for (const { id } of ended) touch('login-session', id);
}

function sessionOf(row: LoginSessionTable): GatewaySession {
  return {
    id: row.id,
    shareId: row.share_id,
    host: row.host,
    providerId: row.auth_provider_id,
    providerVersion: row.provider_version,
    identity: JSON.parse(row.identity) as CallerIdentity,
    createdAtMs: row.created_at,
    lastUsedAtMs: row.last_used_at,
  };
}
