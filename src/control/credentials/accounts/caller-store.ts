/**
 * API accounts and OAuth clients for administration: create, list, rotate, revoke. A revoked one keeps its row,
 * so that the audit trail can refer to it, but is no longer visible. `account-store.ts` authenticates callers.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { isUuid, type Scope } from '#domain';
import { randomToken, type Secrets } from '../../secrets/mod.ts';
import type { CallerKind } from './account-store.ts';
import {
  containsIn,
  countedPage,
  narrowed,
  type ListFilter,
  type Page,
  type PageRequest,
  lockedForUpdate,
  type Queries,
  type Touch,
} from '../../store/mod.ts';

export interface CallerRecord {
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
  readonly scopes: readonly Scope[];
  readonly createdAtMs: number;
  /** Until when the secret before the last rotation is accepted; null if it ended at once, or there was none. */
  readonly previousUntilMs: number | null;
  /** Null: never. */
  readonly lastUsedAtMs: number | null;
}

/** A caller with its secret, which is not shown again. */
export interface CallerWithSecret {
  readonly caller: CallerRecord;
  readonly secret: string;
}

const TABLES = { account: 'api_account', client: 'oauth_client' } as const;
const COLUMNS = [
  'id',
  'name',
  'organization_id',
  'scopes',
  'created_at',
  'previous_until',
  'last_used_at',
] as const;
const ADMIN = 'frontdoor.admin';

/** Scopes of an administrator's account. */
export const ADMIN_SCOPES = ['frontdoor.read', 'frontdoor.write', 'frontdoor.admin'];

export async function createCaller(
  trx: Queries,
  touch: Touch,
  secrets: Secrets,
  wanted: {
    readonly kind: CallerKind;
    readonly name: string;
    readonly organizationId: string;
    readonly scopes: readonly string[];
    readonly nowMs: number;
  },
): Promise<CallerWithSecret> {
  const secret = randomToken();
  const row = {
    id: randomUUID(),
    organization_id: wanted.organizationId,
    name: wanted.name,
    scopes: wanted.scopes.join(' '),
    created_at: wanted.nowMs,
    secret_id: randomUUID(),
    previous_hmac: null,
    previous_until: null,
    previous_id: null,
    revoked_at: null,
    last_used_at: null,
  };
  const hmac = secrets.hmac(secret);
  await (
    wanted.kind === 'account'
      ? trx.insertInto('api_account').values({ ...row, token_hmac: hmac })
      : trx.insertInto('oauth_client').values({ ...row, secret_hmac: hmac })
  ).execute();
  touch('caller', row.id);
  return { caller: recordOf(row), secret };
}

export async function findCallerRecord(
  db: Queries,
  kind: CallerKind,
  id: string,
): Promise<CallerRecord | undefined> {
  if (!isUuid(id)) return undefined;
  const row = await liveCallers(db, kind).where('id', '=', id.toLowerCase()).executeTakeFirst();
  return row === undefined ? undefined : recordOf(row);
}

/** Returns the caller, locked until the transaction ends. */
export async function lockCaller(
  trx: Queries,
  kind: CallerKind,
  id: string,
): Promise<CallerRecord | undefined> {
  if (!isUuid(id)) return undefined;
  const query = liveCallers(trx, kind).where('id', '=', id.toLowerCase());
  const row = await lockedForUpdate(trx, query).executeTakeFirst();
  return row === undefined ? undefined : recordOf(row);
}

export async function listCallers(
  db: Queries,
  kind: CallerKind,
  organizationId: string,
  request: PageRequest,
  filter: ListFilter,
): Promise<Page<CallerRecord>> {
  const query = liveCallers(db, kind).where('organization_id', '=', organizationId);
  const { content, total } = await countedPage(narrowed(query, filter), request);
  return { content: content.map(recordOf), total };
}

/** Callers of the organization that are not revoked, whose name contains the text or whose id it is, at most so many. */
export async function searchCallers(
  db: Queries,
  kind: CallerKind,
  organizationId: string,
  text: string,
  limit: number,
): Promise<readonly Pick<CallerRecord, 'id' | 'name'>[]> {
  const isNamed = containsIn([sql.ref('name')], text);
  return liveCallers(db, kind)
    .where('organization_id', '=', organizationId)
    .where(sql<boolean>`(${isNamed} or id = ${text.toLowerCase()})`)
    .orderBy('name')
    .limit(limit)
    .execute();
}

export async function renameCaller(
  trx: Queries,
  touch: Touch,
  kind: CallerKind,
  before: CallerRecord,
  name: string,
): Promise<CallerRecord> {
  await trx.updateTable(TABLES[kind]).set({ name }).where('id', '=', before.id).execute();
  touch('caller', before.id);
  return { ...before, name };
}

/**
 * Sets a new secret. The old one is accepted until `previousUntilMs`, or not at all if that is null. The one
 * before it is never accepted.
 */
export async function rotateCaller(
  trx: Queries,
  touch: Touch,
  secrets: Secrets,
  kind: CallerKind,
  id: string,
  previousUntilMs: number | null,
): Promise<string> {
  const secret = randomToken();
  const hmac = secrets.hmac(secret);
  const isKept = previousUntilMs !== null;
  const previous_id = isKept ? sql.ref<string>('secret_id') : null;
  const ids = { secret_id: randomUUID(), previous_until: previousUntilMs, previous_id };
  await (
    kind === 'account'
      ? trx
          .updateTable('api_account')
          .set(({ ref }) => ({
            ...ids,
            token_hmac: hmac,
            previous_hmac: isKept ? ref('token_hmac') : null,
          }))
          .where('id', '=', id)
      : trx
          .updateTable('oauth_client')
          .set(({ ref }) => ({
            ...ids,
            secret_hmac: hmac,
            previous_hmac: isKept ? ref('secret_hmac') : null,
          }))
          .where('id', '=', id)
  ).execute();
  touch('caller', id);
  return secret;
}

/** Ends the acceptance of the secret before the last rotation. */
export async function endPreviousSecret(
  trx: Queries,
  touch: Touch,
  kind: CallerKind,
  id: string,
): Promise<void> {
  await trx
    .updateTable(TABLES[kind])
    .set({ previous_hmac: null, previous_until: null, previous_id: null })
    .where('id', '=', id)
    .execute();
  touch('caller', id);
}

export async function revokeCaller(
  trx: Queries,
  touch: Touch,
  kind: CallerKind,
  id: string,
  nowMs: number,
): Promise<void> {
  await trx.updateTable(TABLES[kind]).set({ revoked_at: nowMs }).where('id', '=', id).execute();
  touch('caller', id);
}

/**
 * Whether the last accounts with `frontdoor.admin` are among those that `isGoing` selects. All of them stay
 * locked, so that of two concurrent removals the second one is refused.
 */
export async function removesLastAdmin(
  trx: Queries,
  isGoing: (account: CallerRecord) => boolean,
): Promise<boolean> {
  const accounts = liveCallers(trx, 'account').where('scopes', 'like', `%${ADMIN}%`).orderBy('id');
  const admins = (await lockedForUpdate(trx, accounts).execute()).map(recordOf);
  return admins.length > 0 && admins.every(isGoing);
}

function liveCallers(db: Queries, kind: CallerKind) {
  return db.selectFrom(TABLES[kind]).select(COLUMNS).where('revoked_at', 'is', null);
}

function recordOf(row: {
  id: string;
  name: string;
  organization_id: string;
  scopes: string;
  created_at: number;
  previous_until: number | null;
  last_used_at: number | null;
}): CallerRecord {
  return {
    id: row.id,
    name: row.name,
    organizationId: row.organization_id,
    scopes: row.scopes.split(' ') as Scope[],
    createdAtMs: row.created_at,
    previousUntilMs: row.previous_until,
    lastUsedAtMs: row.last_used_at,
  };
}
