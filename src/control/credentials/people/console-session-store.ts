/**
 * Sessions at the console, of people and of API accounts. Each request looks its session up together with its owner and the
 * credential that opened it, so that a changed role, a removed person or a rotated token counts at once.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { isUuid, ROLE_SCOPES } from '#domain';
import { randomToken, type Secrets } from '../../secrets/mod.ts';
import { orderedPage, type Page, type PageRequest, type Queries } from '../../store/mod.ts';
import { presentLogIn } from '../accounts/console-provider.ts';
import { inForce, passwordCredential, providerCredential } from '../accounts/credential-rule.ts';

export interface SessionOwner {
  readonly kind: 'person' | 'account';
  readonly id: string;
  readonly organizationId: string;
}

export interface ConsoleSession {
  readonly id: string;
  readonly owner: SessionOwner;
  /** The name of the person or account. */
  readonly name: string;
  /** Names what opened it (`credential-rule.ts`). */
  readonly credential: string;
  /** Empty for a person who waits for a role. */
  readonly scopes: readonly string[];
  readonly address: string;
  readonly browser: string;
  readonly createdAtMs: number;
  /** When the owner last proved the identity. */
  readonly provenAtMs: number;
  readonly lastUsedAtMs: number;
  readonly expiresAtMs: number;
}

export interface SessionClient extends Pick<ConsoleSession, 'address' | 'browser'> {
  /** The auth provider that proved the identity; undefined for a password or token. */
  readonly authProviderId?: string | undefined;
  /** Names the secret of an account, or the state of the provider; that of the person's password by default. */
  readonly credential?: string | undefined;
  /** Whether the owner has proven a second factor, too. */
  readonly secondFactor?: boolean | undefined;
  /** When the auth provider saw the owner log in, if it was earlier than this log-in. */
  readonly provenAtMs?: number | undefined;
}

/** The oldest sessions of an owner end when it has more. */
export const MAX_CONSOLE_SESSIONS = 50;

const CREATED_AT = sql.ref('console_session.created_at');
const ID = sql.ref('console_session.id');
const ORDER = { tie: ID, fields: { default: CREATED_AT, createdAt: CREATED_AT, id: ID } };
const OWNER_COLUMNS = { person: 'person_id', account: 'account_id' } as const;

/** Only the result has the token. Removes what has expired. */
export async function openConsoleSession(
  trx: Queries,
  secrets: Pick<Secrets, 'hmac'>,
  owner: SessionOwner,
  client: SessionClient,
  times: { readonly nowMs: number; readonly idleMs: number; readonly lifetimeMs: number },
): Promise<{ readonly id: string; readonly token: string }> {
  const { nowMs, idleMs, lifetimeMs } = times;
  await notePersonSeen(trx, owner, nowMs);
  await trx
    .deleteFrom('console_session')
    .where((eb) => eb.or([eb('expires_at', '<=', nowMs), eb('last_used_at', '<=', nowMs - idleMs)]))
    .execute();
  const column = OWNER_COLUMNS[owner.kind];
  const kept = trx
    .selectFrom('console_session')
    .select('id')
    .where(column, '=', owner.id)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(MAX_CONSOLE_SESSIONS - 1);
  await trx.deleteFrom('console_session').where(column, '=', owner.id).where('id', 'not in', kept).execute();
  const token = randomToken();
  const credential =
    client.credential ?? (await passwordCredential(trx, owner.id, client.secondFactor === true));
  const row = {
    id: randomUUID(),
    token_hmac: secrets.hmac(token),
    credential,
    organization_id: owner.organizationId,
    person_id: owner.kind === 'person' ? owner.id : null,
    account_id: owner.kind === 'account' ? owner.id : null,
    auth_provider_id: client.authProviderId ?? null,
    second_factor: client.secondFactor === true ? 1 : 0,
    address: client.address,
    browser: client.browser,
    created_at: nowMs,
    proven_at: Math.min(client.provenAtMs ?? nowMs, nowMs),
    last_used_at: nowMs,
    expires_at: nowMs + lifetimeMs,
  };
  await trx.insertInto('console_session').values(row).execute();
  return { id: row.id, token };
}

/** Returns the session of a token, if it is not over and its owner still exists. */
export async function findConsoleSession(
  db: Queries,
  secrets: Pick<Secrets, 'hmac'>,
  token: string,
  { nowMs, idleMs }: { readonly nowMs: number; readonly idleMs: number },
): Promise<ConsoleSession | undefined> {
  const row = await openSessions(db, nowMs, idleMs)
    .where('console_session.token_hmac', '=', secrets.hmac(token))
    .executeTakeFirst();
  return row && sessionOf(row);
}

export async function findConsoleSessionById(
  db: Queries,
  id: string,
  { nowMs, idleMs }: { readonly nowMs: number; readonly idleMs: number },
): Promise<ConsoleSession | undefined> {
  if (!isUuid(id)) return undefined;
  const row = await openSessions(db, nowMs, idleMs)
    .where('console_session.id', '=', id.toLowerCase())
    .executeTakeFirst();
  return row && sessionOf(row);
}

/** How a session began: by a password alone, or with a code, too, by an auth provider, or by the token of an account. */
export type SessionBeginning = 'password' | 'second-factor' | 'provider' | 'token';

export interface SessionChoice {
  readonly beganBy?: SessionBeginning | undefined;
  /** The auth provider that it began with. */
  readonly authProviderId?: string | undefined;
}

/** The sessions of an organization, or of one owner, that the choice permits. */
export async function listConsoleSessions(
  db: Queries,
  of: { readonly organizationId: string } | SessionOwner,
  request: PageRequest,
  { beganBy, authProviderId }: SessionChoice,
  { nowMs, idleMs }: { readonly nowMs: number; readonly idleMs: number },
): Promise<Page<ConsoleSession>> {
  let all = openSessions(db, nowMs, idleMs).where('console_session.organization_id', '=', of.organizationId);
  if (authProviderId !== undefined) all = all.where('console_session.auth_provider_id', '=', authProviderId);
  if (beganBy === 'token') all = all.where('console_session.person_id', 'is', null);
  else if (beganBy === 'provider') all = all.where('console_session.auth_provider_id', 'is not', null);
  else if (beganBy !== undefined) {
    all = all
      .where('console_session.person_id', 'is not', null)
      .where('console_session.auth_provider_id', 'is', null)
      .where('console_session.second_factor', '=', beganBy === 'password' ? 0 : 1);
  }
  const query = 'kind' in of ? all.where(`console_session.${OWNER_COLUMNS[of.kind]}`, '=', of.id) : all;
  const { content, total } = await orderedPage(query, ORDER, request);
  return { content: content.map(sessionOf), total };
}

/**
 * Makes the session one of the person's password and second factor, as both are now, or of the password alone. Sessions that
 * began through an auth provider stay what they are.
 */
export async function renewSessionCredential(
  trx: Queries,
  { id, personId }: { readonly id: string; readonly personId: string },
  hasFactor: boolean,
): Promise<void> {
  const credential = await passwordCredential(trx, personId, hasFactor);
  await trx
    .updateTable('console_session')
    .set({ second_factor: hasFactor ? 1 : 0, credential })
    .where('id', '=', id)
    .where('auth_provider_id', 'is', null)
    .execute();
}

/** A session that has just changed the provider with which it began continues; others of that provider have ended. */
export async function keepProviderSession(trx: Queries, id: string, providerId: string): Promise<void> {
  const present = await presentLogIn(trx, providerId);
  if (present === undefined) return;
  await trx
    .updateTable('console_session')
    .set({ credential: providerCredential(present.id, present.version) })
    .where('id', '=', id)
    .where('auth_provider_id', '=', providerId)
    .execute();
}

/** Ends the sessions of an organization that began with a password alone. */
export async function endSessionsWithoutFactor(trx: Queries, organizationId: string): Promise<void> {
  await trx
    .deleteFrom('console_session')
    .where('organization_id', '=', organizationId)
    .where('person_id', 'is not', null)
    .where('auth_provider_id', 'is', null)
    .where('second_factor', '=', 0)
    .execute();
}

/** Notes the use of a session, and of its person. Called at most once a minute. */
export async function noteSessionUse(trx: Queries, session: ConsoleSession, nowMs: number): Promise<void> {
  await notePersonSeen(trx, session.owner, nowMs);
  await trx
    .updateTable('console_session')
    .set({ last_used_at: nowMs })
    .where('id', '=', session.id)
    .execute();
}

/** The person first, as everything does that ends sessions of a person: two transactions never wait for each other. */
async function notePersonSeen(trx: Queries, owner: SessionOwner, nowMs: number): Promise<void> {
  if (owner.kind !== 'person') return;
  await trx.updateTable('person').set({ last_seen_at: nowMs }).where('id', '=', owner.id).execute();
}

/** Ends the sessions of an owner, apart from one. Returns how many there were, also those that had expired. */
export async function endSessionsOfOwner(
  trx: Queries,
  { kind, id }: Pick<SessionOwner, 'kind' | 'id'>,
  exceptId: string | undefined,
): Promise<number> {
  let ended = trx.deleteFrom('console_session').where(OWNER_COLUMNS[kind], '=', id);
  if (exceptId !== undefined) ended = ended.where('id', '!=', exceptId);
  const { numDeletedRows } = await ended.executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/**
 * After a change of the person's password: gives the session another token, which only the result has, and makes it one of
 * the new password. Returns undefined if it has ended.
 */
export async function renewSessionToken(
  trx: Queries,
  secrets: Pick<Secrets, 'hmac'>,
  { id, personId }: { readonly id: string; readonly personId: string },
): Promise<string | undefined> {
  const token = randomToken();
  const renewed = await trx
    .updateTable('console_session')
    .set({ token_hmac: secrets.hmac(token) })
    .where('id', '=', id)
    .returning('second_factor')
    .executeTakeFirst();
  if (renewed === undefined) return undefined;
  await renewSessionCredential(trx, { id, personId }, renewed.second_factor === 1);
  return token;
}

/** Whether the session has not been ended by anybody. */
export async function hasConsoleSession(db: Queries, id: string): Promise<boolean> {
  const query = db.selectFrom('console_session').select('id').where('id', '=', id);
  return (await query.executeTakeFirst()) !== undefined;
}

/** Returns whether there was one. */
export async function endConsoleSession(trx: Queries, id: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('console_session')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return numDeletedRows > 0n;
}

/** Sessions that are not over, with what their owners may do. */
function openSessions(db: Queries, nowMs: number, idleMs: number) {
  return (
    db
      .selectFrom('console_session')
      .leftJoin('person', 'person.id', 'console_session.person_id')
      .leftJoin('api_account', (join) =>
        join
          .onRef('api_account.id', '=', 'console_session.account_id')
          .on('api_account.revoked_at', 'is', null),
      )
      .selectAll('console_session')
      .select([
        'person.name as person_name',
        'person.role',
        'api_account.name as account_name',
        'api_account.scopes',
      ])
      .where(
        inForce(
          sql`case when console_session.person_id is null then 'account' else 'person' end`,
          sql`coalesce(console_session.person_id, console_session.account_id)`,
          sql`console_session.credential`,
          nowMs,
        ),
      )
      // An organization that demands a second factor ends the sessions of passwords without one.
      .innerJoin('organization', 'organization.id', 'console_session.organization_id')
      .where((eb) =>
        eb.or([
          eb('organization.second_factor', '=', 0),
          eb('console_session.second_factor', '=', 1),
          eb('console_session.person_id', 'is', null),
          eb('console_session.auth_provider_id', 'is not', null),
        ]),
      )
      .where('console_session.expires_at', '>', nowMs)
      .where('console_session.last_used_at', '>', nowMs - idleMs)
      .where((eb) => eb.or([eb('person.id', 'is not', null), eb('api_account.id', 'is not', null)]))
  );
}

type OpenSessionRow = Awaited<ReturnType<ReturnType<typeof openSessions>['execute']>>[number];

function sessionOf(row: OpenSessionRow): ConsoleSession {
  const { organization_id: organizationId, role, scopes } = row;
  const owner: SessionOwner =
    row.person_id === null
      ? { kind: 'account', id: row.account_id!, organizationId }
      : { kind: 'person', id: row.person_id, organizationId };
  const ofRole = role === null ? [] : ROLE_SCOPES[role];
  return {
    id: row.id,
    owner,
    name: row.person_name ?? row.account_name ?? '',
    credential: row.credential ?? '',
    scopes: owner.kind === 'person' ? ofRole : (scopes?.split(' ') ?? []),
    address: row.address,
    browser: row.browser,
    createdAtMs: row.created_at,
    provenAtMs: row.proven_at,
    lastUsedAtMs: row.last_used_at,
    expiresAtMs: row.expires_at,
  };
}
