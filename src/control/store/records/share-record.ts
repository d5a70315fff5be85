/** Shares as the rest of the control plane reads them: the row with its frontends, grants and providers. */
import { sql, type SelectQueryBuilder } from 'kysely';
import { customHostsOf, type CustomHost } from './custom-host.ts';
import type { GrantedFrontdoor } from './frontdoor-store.ts';
import { orderedPage } from '../engine/counted-page.ts';
import { isFiltered, narrowed, type ListFilter } from '../engine/list-filter.ts';
import type { ListOrder } from '../engine/list-pages.ts';
import { inOrderOf } from '../engine/measured-page.ts';
import { statedPage, type StatedIds } from '../engine/stated-page.ts';
import type { Page, PageRequest } from '../engine/page.ts';
import { lockedForUpdate } from '../engine/row-lock.ts';
import { isPostgres } from '../schema/database-kind.ts';
import type { Database, ShareTable } from '../schema/schema.ts';
import type { Queries, Store } from '../engine/store.ts';
import { relatedShares, relationsOf, type RelatedShare, type ShareRelations } from './share-relations.ts';

export interface ShareFrontend {
  readonly id: string;
  /** The name under which this frontend serves the share: `<token>.<zone>`, lower case. */
  readonly host: string;
}

export interface ShareRecord {
  /** The overlay service's id. */
  readonly id: string;
  readonly frontdoorId: string;
  readonly environmentId: string;
  /** The overlay service's name. */
  readonly token: string;
  /** Null if none was given. */
  readonly name: string | null;
  readonly shareMode: 'public' | 'private';
  readonly backendMode: 'proxy';
  readonly target: string;
  readonly reserved: boolean;
  readonly targetByAgent: boolean;
  readonly epoch: number;
  readonly frontends: readonly ShareFrontend[];
  /** Its names below custom frontends of its frontdoor, by their age. */
  readonly customHosts: readonly CustomHost[];
  readonly authProviderIds: readonly string[];
  /** Ids of the environments that may dial it if it is private. */
  readonly grants: readonly string[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

const LOCKED = Symbol('locked share');

/** A share as it stays until the transaction ends, but for what the transaction itself changes. */
export interface LockedShare extends ShareRecord {
  readonly [LOCKED]: ShareRelations;
}

/** What the record of a locked share was made from. */
export function relationsOfLocked(share: LockedShare): ShareRelations {
  return share[LOCKED];
}

/** Whole records for rows, in their order. */
async function shareRecordsOf(db: Queries, rows: readonly ShareTable[]): Promise<ShareRecord[]> {
  return (await relationsOf(db, rows)).map(shareRecordOf);
}

/** One record. The order of its fields is part of the entity tags of shares. */
export function shareRecordOf({ row, relations }: RelatedShare<ShareTable>): ShareRecord {
  const { frontends, customZones, authProviderIds, grants } = relations;
  return {
    id: row.id,
    frontdoorId: row.frontdoor_id,
    environmentId: row.environment_id,
    token: row.token,
    name: row.name,
    shareMode: row.share_mode,
    backendMode: row.backend_mode,
    target: row.target,
    reserved: row.reserved === 1,
    targetByAgent: row.target_by_agent === 1,
    epoch: row.epoch,
    frontends: frontends.map(({ id, zone }) => ({ id, host: `${row.token}.${zone}` })),
    customHosts: customHostsOf(row.token, frontends, authProviderIds, customZones),
    authProviderIds,
    grants,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
  };
}

/** Returns a share of a frontdoor by its token. */
export async function findShare(
  db: Queries,
  frontdoorId: string,
  token: string,
): Promise<ShareRecord | undefined> {
  const [found] = await relatedShares(db, byToken(db, frontdoorId, token).selectAll());
  return found && shareRecordOf(found);
}

/** The same, locked until the transaction ends. */
export async function findShareForUpdate(
  trx: Queries,
  frontdoorId: string,
  token: string,
): Promise<LockedShare | undefined> {
  // A statement that waits for a lock still sees the other tables as of its start, so the relations take another one.
  if (isPostgres(trx) && (await findShareIdForUpdate(trx, frontdoorId, token)) === undefined)
    return undefined;
  const [found] = await relatedShares(trx, byToken(trx, frontdoorId, token).selectAll());
  return found && { ...shareRecordOf(found), [LOCKED]: found.relations };
}

/** The id of a share, for what belongs to it and needs no more of it. */
export async function findShareId(
  db: Queries,
  frontdoorId: string,
  token: string,
): Promise<string | undefined> {
  return (await byToken(db, frontdoorId, token).select('id').executeTakeFirst())?.id;
}

/** The same, and the share stays as it is until the transaction ends. */
export async function findShareIdForUpdate(
  trx: Queries,
  frontdoorId: string,
  token: string,
): Promise<string | undefined> {
  const row = lockedForUpdate(trx, byToken(trx, frontdoorId, token).select('id'));
  return (await row.executeTakeFirst())?.id;
}

function byToken(db: Queries, frontdoorId: string, token: string) {
  return db.selectFrom('share').where('frontdoor_id', '=', frontdoorId).where('token', '=', token);
}

/** Returns every share that an environment hosts, by token. */
export async function listSharesOf(db: Queries, environmentId: string): Promise<ShareRecord[]> {
  const rows = await db
    .selectFrom('share')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .orderBy('token')
    .execute();
  return shareRecordsOf(db, rows);
}

const ORDER: ListOrder = {
  kind: 'share',
  tie: sql.ref('token'),
  fields: {
    default: sql.ref('created_at'),
    createdAt: sql.ref('created_at'),
    name: sql`coalesce(${sql.ref('name')}, '')`,
    id: sql.ref('token'),
  },
};

/** Returns a page of a frontdoor's shares. Sorting by `id` means by token. `idsByState` returns what is measured now. */
export async function listShares(
  store: Pick<Store, 'db' | 'lists'>,
  frontdoor: GrantedFrontdoor,
  request: PageRequest,
  filter: ListFilter,
  idsByState: () => StatedIds,
): Promise<Page<ShareRecord>> {
  const { db, lists } = store;
  const all = db.selectFrom('share').selectAll().where('frontdoor_id', '=', frontdoor.id);
  const some = filteredShares(all, filter);
  const { status: state } = filter;
  const { content, total } =
    state !== undefined || request.sort === 'status'
      ? await statedPage(db, some, ORDER, request, {
          ids: idsByState(),
          state,
          isFiltered: isFiltered(filter),
        })
      : isFiltered(filter)
        ? await matchedPage(db, all, some, request)
        : await lists.page(db, all, ORDER, frontdoor.id, request);
  return { content: await shareRecordsOf(db, content), total };
}

/** PostgreSQL reads every share of the frontdoor for a text, so it counts the matches while it looks for the page. */
async function matchedPage(
  db: Queries,
  all: SelectQueryBuilder<Database, 'share', ShareTable>,
  some: SelectQueryBuilder<Database, 'share', ShareTable>,
  request: PageRequest,
): Promise<Page<ShareTable>> {
  const { page, size, sort, direction } = request;
  const field = ORDER.fields[sort];
  if (field === undefined || !isPostgres(db)) return orderedPage(some, ORDER, request);
  const matches = some
    .clearSelect()
    .select(['id', sql<unknown>`${field}`.as('value'), sql<unknown>`${ORDER.tie}`.as('tie')]);
  const found = await db
    .with(
      (name) => name('matched').materialized(),
      () => matches,
    )
    .selectFrom('matched')
    .select(['id', sql<number>`(select count(*) from matched)`.as('total')])
    .orderBy('value', direction)
    .orderBy('tie', direction)
    .limit(size)
    .offset(page * size)
    .execute();
  const [first] = found;
  if (first === undefined) return page === 0 ? { content: [], total: 0 } : orderedPage(some, ORDER, request);
  const ids = found.map(({ id }) => id);
  const rows = await all.where('id', 'in', ids).execute();
  return { content: inOrderOf(ids, rows), total: Number(first.total) };
}

function filteredShares<O>(query: SelectQueryBuilder<Database, 'share', O>, filter: ListFilter) {
  const { environmentId, providerId } = filter;
  let some = narrowed(query, filter);
  if (environmentId !== undefined) some = some.where('environment_id', '=', environmentId);
  if (providerId !== undefined)
    some = some.where(sql<boolean>`id in (select share_id from share_auth_provider
      where auth_provider_id = ${providerId})`);
  return some;
}
