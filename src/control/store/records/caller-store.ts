/**
 * API accounts and OAuth clients as administrators see them: made, listed, given new secrets, revoked. A revoked one
 * keeps its row, so that what the audit trail names can be told from what never was; to everybody it is gone.
 * Proving who calls is `account-store.ts`.
 */
import { randomUUID } from 'node:crypto';
import type { Scope } from '#contract';
import { isUuid } from '#domain';
import { randomToken, type Secrets } from '../../secrets/mod.ts';
import type { CallerKind } from './account-store.ts';
import { countedPage } from '../engine/counted-page.ts';
import { narrowed, type ListFilter } from '../engine/list-filter.ts';
import type { Page, PageRequest } from '../engine/page.ts';
import { lockedForUpdate } from '../engine/row-lock.ts';
import type { Queries, Touch } from '../engine/store.ts';

export interface CallerRecord {
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
  readonly scopes: readonly Scope[];
  readonly createdAtMs: number;
  /** Until when the secret before the last rotation is accepted; null: it ended with that, or there was none. */
  readonly previousUntilMs: number | null;
}

/** A caller with its secret, which is never seen again. */
export interface CallerWithSecret {
  readonly caller: CallerRecord;
  readonly secret: string;
}

const TABLES = { account: 'api_account', client: 'oauth_client' } as const;
const COLUMNS = ['id', 'name', 'organization_id', 'scopes', 'created_at', 'previous_until'] as const;
const ADMIN = 'frontdoor.admin';

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
    previous_hmac: null,
    previous_until: null,
    revoked_at: null,
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

/** As it is, and as it stays until the transaction ends. */
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

/**
 * The new secret. The old one is accepted until `previousUntilMs`; when that is null it is worth nothing from here on,
 * as is the one before it either way.
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
  await (
    kind === 'account'
      ? trx
          .updateTable('api_account')
          .set(({ ref }) => ({
            token_hmac: hmac,
            previous_hmac: isKept ? ref('token_hmac') : null,
            previous_until: previousUntilMs,
          }))
          .where('id', '=', id)
      : trx
          .updateTable('oauth_client')
          .set(({ ref }) => ({
            secret_hmac: hmac,
            previous_hmac: isKept ? ref('secret_hmac') : null,
            previous_until: previousUntilMs,
          }))
          .where('id', '=', id)
  ).execute();
  touch('caller', id);
  return secret;
}

/** The secret before the last rotation is worth nothing from here on. */
export async function endPreviousSecret(
  trx: Queries,
  touch: Touch,
  kind: CallerKind,
  id: string,
): Promise<void> {
  await trx
    .updateTable(TABLES[kind])
    .set({ previous_hmac: null, previous_until: null })
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
 * Whether the last accounts with `frontdoor.admin` are among those that `isGoing` names. All of them stay locked: of
 * two who would each leave the other as the last one, the second is told.
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
}): CallerRecord {
  return {
    id: row.id,
    name: row.name,
    organizationId: row.organization_id,
    scopes: row.scopes.split(' ') as Scope[],
    createdAtMs: row.created_at,
    previousUntilMs: row.previous_until,
  };
}
