/**
 * Sessions of one auth provider, as the provider's owner lists and ends them. They are rows only, so that a
 * session ended at one control plane is ended at all of them, also after restarts. Every gateway is notified.
 */
import { sql } from 'kysely';
import { readAlone } from '#net';
import {
  narrowed,
  type AuthProviderTable,
  type ListFilter,
  type Page,
  type PageRequest,
  type Queries,
  type Touch,
} from '../../store/mod.ts';
import { readIdentity } from './identity-column.ts';
import { endSessions } from './login-sessions.ts';

/** Both must match if both are given; without any, all sessions match. */
export interface SessionFilter {
  /** In the form of `canonicalEmail`. */
  readonly email?: string | undefined;
  readonly subject?: string | undefined;
}

/** Restricts to sessions that began in this span. */
export type SessionSpan = Pick<ListFilter, 'fromMs' | 'toMs'>;

export interface ProviderSession {
  readonly id: string;
  readonly shareId: string;
  readonly shareToken: string;
  readonly host: string;
  readonly subject: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number;
  /** According to the policy at the time of the log-in. */
  readonly expiresAtMs: number;
}

type Provider = Pick<AuthProviderTable, 'id' | 'version'>;

const ROWS_A_STATEMENT = 500;

/** Returns the provider's row by its frontdoor, or undefined if there is none. */
export function findSessionProvider(
  db: Queries,
  frontdoor: { readonly id: string },
  id: string,
): Promise<Provider | undefined> {
  return db
    .selectFrom('auth_provider')
    .select(['id', 'version'])
    .where('id', '=', id.toLowerCase())
    .where('frontdoor_id', '=', frontdoor.id)
    .executeTakeFirst();
}

/** The newest first, without sessions that have expired or ended with a change of the provider. */
export async function listSessions(
  db: Queries,
  provider: Provider,
  filter: SessionFilter,
  { page, size }: PageRequest,
  nowMs: number,
  span: SessionSpan = {},
): Promise<Page<ProviderSession>> {
  const query = narrowed(liveSessions(db, provider, filter, nowMs), span, { at: 'login_session.created_at' });
  const total = await countOf(query);
  const rows = await query
    .orderBy('login_session.created_at', 'desc')
    .orderBy('login_session.id', 'desc')
    .limit(size)
    .offset(page * size)
    .execute();
  return { content: rows.map(sessionOf), total };
}

/** Ends one session. Returns undefined if there is none. */
export async function endSession(
  trx: Queries,
  touch: Touch,
  provider: Provider,
  id: string,
  nowMs: number,
): Promise<ProviderSession | undefined> {
  const row = await liveSessions(trx, provider, {}, nowMs)
    .where('login_session.id', '=', id.toLowerCase())
    .executeTakeFirst();
  if (row === undefined) return undefined;
  await endSessions(trx, touch, [row.id]);
  return sessionOf(row);
}

/** Ends all sessions of a person, including log-ins that lack only the last step, and returns their number. */
export async function endSessionsOf(
  trx: Queries,
  touch: Touch,
  provider: Provider,
  filter: SessionFilter,
  nowMs: number,
): Promise<number> {
  // Done first, because it waits for concurrent redemptions, whose sessions are then seen below.
  await dropProven(trx, provider, filter, nowMs);
  let ended = 0;
  for (;;) {
    const rows = await sessionsOf(trx, provider, filter)
      .select(['login_session.id', 'login_session.expires_at', 'login_session.provider_version'])
      .orderBy('login_session.id')
      .limit(ROWS_A_STATEMENT)
      .execute();
    if (rows.length === 0) return ended;
    await endSessions(
      trx,
      touch,
      rows.map(({ id }) => id),
    );
    ended += rows.filter((row) => row.expires_at > nowMs && row.provider_version === provider.version).length;
  }
}

/** Ends all sessions by incrementing the provider's version, and returns their number. */
export async function endAllSessions(
  trx: Queries,
  touch: Touch,
  provider: Provider,
  nowMs: number,
): Promise<number> {
  const total = await countOf(liveSessions(trx, provider, {}, nowMs));
  await trx
    .updateTable('auth_provider')
    .set({ version: sql<number>`version + 1` })
    .where('id', '=', provider.id)
    .execute();
  await trx.deleteFrom('login_session').where('auth_provider_id', '=', provider.id).execute();
  touch('auth-provider', provider.id);
  return total;
}

/** Removes pending log-ins whose person is known already. */
async function dropProven(
  trx: Queries,
  provider: Provider,
  { email, subject }: SessionFilter,
  nowMs: number,
): Promise<void> {
  const proven = await trx
    .selectFrom('login_attempt')
    .select(['state_hmac', 'identity'])
    .where('auth_provider_id', '=', provider.id)
    .where('identity', 'is not', null)
    .where('expires_at', '>', nowMs)
    .execute();
  const theirs = proven.filter(({ identity }) => {
    const person = readAlone('a pending sign-in of the store', () => readIdentity(identity!));
    // One that is damaged ends, too: it cannot become a session.
    if (person === undefined) return true;
    return (
      (email === undefined || person.email === email) && (subject === undefined || person.subject === subject)
    );
  });
  for (let at = 0; at < theirs.length; at += ROWS_A_STATEMENT) {
    const states = theirs.slice(at, at + ROWS_A_STATEMENT).map(({ state_hmac: state }) => state);
    await trx.deleteFrom('login_attempt').where('state_hmac', 'in', states).execute();
  }
}

function sessionsOf(db: Queries, provider: Provider, { email, subject }: SessionFilter) {
  let query = db.selectFrom('login_session').where('login_session.auth_provider_id', '=', provider.id);
  if (email !== undefined) query = query.where('login_session.email', '=', email);
  if (subject !== undefined) query = query.where('login_session.subject', '=', subject);
  return query;
}

function liveSessions(db: Queries, provider: Provider, filter: SessionFilter, nowMs: number) {
  return sessionsOf(db, provider, filter)
    .innerJoin('share', 'share.id', 'login_session.share_id')
    .select([
      'login_session.id',
      'login_session.share_id',
      'share.token',
      'login_session.host',
      'login_session.subject',
      'login_session.email',
      'login_session.identity',
      'login_session.created_at',
      'login_session.last_used_at',
      'login_session.expires_at',
    ])
    .where('login_session.provider_version', '=', provider.version)
    .where('login_session.expires_at', '>', nowMs);
}

async function countOf(query: ReturnType<typeof liveSessions>): Promise<number> {
  const { total } = await query
    .clearSelect()
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  return Number(total);
}

function sessionOf(row: {
  readonly id: string;
  readonly share_id: string;
  readonly token: string;
  readonly host: string;
  readonly subject: string;
  readonly email: string | null;
  readonly identity: string;
  readonly created_at: number;
  readonly last_used_at: number;
  readonly expires_at: number;
}): ProviderSession {
  return {
    id: row.id,
    shareId: row.share_id,
    shareToken: row.token,
    host: row.host,
    subject: row.subject,
    email: row.email,
    // A session whose identity is damaged is listed without a name, so that its owner can end it.
    name: readAlone(`the session ${row.id} of the store`, () => readIdentity(row.identity))?.name ?? null,
    createdAtMs: row.created_at,
    lastUsedAtMs: row.last_used_at,
    expiresAtMs: row.expires_at,
  };
}
