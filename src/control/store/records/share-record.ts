/** Shares as the rest of the control plane reads them: the row with its frontends, grants and providers. */
import { sql, type SelectQueryBuilder } from 'kysely';
import { customFrontendsOf, customHostsOf, type CustomHost } from './custom-host.ts';
import type { GrantedFrontdoor } from './frontdoor-store.ts';
import { orderedPage } from '../engine/counted-page.ts';
import { isFiltered, narrowed, type ListFilter } from '../engine/list-filter.ts';
import type { ListOrder } from '../engine/list-pages.ts';
import { inOrderOf, measuredIds } from '../engine/measured-page.ts';
import type { Page, PageRequest } from '../engine/page.ts';
import { lockedForUpdate } from '../engine/row-lock.ts';
import type { Database, ShareTable } from '../schema/schema.ts';
import type { Queries, Store } from '../engine/store.ts';

export interface ShareFrontend {
  readonly id: string;
  /** The name that this frontend serves the share under: `<token>.<zone>`, lower case. */
  readonly host: string;
}

export interface ShareRecord {
  /** The overlay service's id. */
  readonly id: string;
  readonly frontdoorId: string;
  readonly environmentId: string;
  /** The overlay service's name. */
  readonly token: string;
  /** Null when none was given. */
  readonly name: string | null;
  readonly shareMode: 'public' | 'private';
  readonly backendMode: 'proxy';
  readonly target: string;
  readonly reserved: boolean;
  readonly targetByAgent: boolean;
  readonly epoch: number;
  readonly frontends: readonly ShareFrontend[];
  /** Where it appears below custom frontends of its frontdoor, by their age. */
  readonly customHosts: readonly CustomHost[];
  readonly authProviderIds: readonly string[];
  /** Ids of the environments that may dial it when it is private. */
  readonly grants: readonly string[];
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Whole records for rows, in their order: a few queries, however many there are. */
export async function shareRecordsOf(db: Queries, rows: readonly ShareTable[]): Promise<ShareRecord[]> {
  if (rows.length === 0) return [];
  const ids = rows.map((row) => row.id);
  const frontends = await db
    .selectFrom('share_frontend')
    .innerJoin('frontend', 'frontend.id', 'share_frontend.frontend_id')
    .select(['share_frontend.share_id', 'frontend.id', 'frontend.zone'])
    // Asked on the way, because most frontdoors have none.
    .select(hasCustomFrontend(rows).as('has_custom'))
    .where('share_frontend.share_id', 'in', ids)
    .orderBy('frontend.created_at')
    .orderBy('frontend.id')
    .execute();
  const grants = await db
    .selectFrom('share_grant')
    .selectAll()
    .where('share_id', 'in', ids)
    .orderBy('environment_id')
    .execute();
  const providers = await db
    .selectFrom('share_auth_provider')
    .selectAll()
    .where('share_id', 'in', ids)
    .orderBy('position')
    .execute();
  const frontendsOf = Map.groupBy(frontends, (row) => row.share_id);
  const customFrontends = frontends.some(({ has_custom }) => Boolean(has_custom))
    ? await customFrontendsOf(
        db,
        rows.map((row) => row.frontdoor_id),
      )
    : undefined;
  const grantsOf = Map.groupBy(grants, (row) => row.share_id);
  const providersOf = Map.groupBy(providers, (row) => row.share_id);
  return rows.map((row) => {
    const authProviderIds = (providersOf.get(row.id) ?? []).map((provider) => provider.auth_provider_id);
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
      frontends: (frontendsOf.get(row.id) ?? []).map(({ id, zone }) => ({
        id,
        host: `${row.token}.${zone}`,
      })),
      customHosts: customHostsOf(row, frontendsOf.get(row.id) ?? [], authProviderIds, customFrontends),
      authProviderIds,
      grants: (grantsOf.get(row.id) ?? []).map((grant) => grant.environment_id),
      createdAtMs: row.created_at,
      updatedAtMs: row.updated_at,
    };
  });
}

function hasCustomFrontend(rows: readonly ShareTable[]) {
  const ids = [...new Set(rows.map((row) => row.frontdoor_id))];
  return sql<unknown>`exists (select 1 from custom_frontend where frontdoor_id in (${sql.join(ids)}))`;
}

/** The records of these share ids; those that are gone are left out. At most 500 ids. */
export async function findShares(db: Queries, ids: readonly string[]): Promise<ShareRecord[]> {
  if (ids.length === 0) return [];
  return shareRecordsOf(db, await db.selectFrom('share').selectAll().where('id', 'in', ids).execute());
}

/** A share of a frontdoor by its token. */
export async function findShare(
  db: Queries,
  frontdoorId: string,
  token: string,
): Promise<ShareRecord | undefined> {
  const rows = await db
    .selectFrom('share')
    .selectAll()
    .where('frontdoor_id', '=', frontdoorId)
    .where('token', '=', token)
    .execute();
  const [record] = await shareRecordsOf(db, rows);
  return record;
}

/** The same, and it stays as it is until the transaction ends. */
export async function findShareForUpdate(
  trx: Queries,
  frontdoorId: string,
  token: string,
): Promise<ShareRecord | undefined> {
  const row = trx
    .selectFrom('share')
    .select('id')
    .where('frontdoor_id', '=', frontdoorId)
    .where('token', '=', token);
  await lockedForUpdate(trx, row).execute();
  return findShare(trx, frontdoorId, token);
}

/** Every share that an environment hosts, by token. */
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

/** A page of a frontdoor's shares; sorting by `id` means by token. `statusOf` returns a status that is measured now. */
export async function listShares(
  store: Pick<Store, 'db' | 'lists'>,
  frontdoor: GrantedFrontdoor,
  request: PageRequest,
  filter: ListFilter,
  statusOf: (share: Pick<ShareRecord, 'id' | 'environmentId'>) => string,
): Promise<Page<ShareRecord>> {
  const { db, lists } = store;
  const all = db.selectFrom('share').selectAll().where('frontdoor_id', '=', frontdoor.id);
  const some = filteredShares(all, filter);
  if (filter.status !== undefined || request.sort === 'status') {
    const value = ORDER.fields[request.sort] ?? sql<unknown>`''`;
    const keysAfter = (token: string, limit: number) =>
      some
        .clearSelect()
        .select(['id', 'environment_id as environmentId', 'token as tie', sql<unknown>`${value}`.as('value')])
        .where('token', '>', token)
        .orderBy('token')
        .limit(limit)
        .execute();
    const page = await measuredIds({ keysAfter, statusOf, status: filter.status }, request);
    if (page.content.length === 0) return { content: [], total: page.total };
    const rows = await db.selectFrom('share').selectAll().where('id', 'in', page.content).execute();
    return { content: await shareRecordsOf(db, inOrderOf(page.content, rows)), total: page.total };
  }
  const { content, total } = isFiltered(filter)
    ? await orderedPage(some, ORDER, request)
    : await lists.page(db, all, ORDER, frontdoor.id, request);
  return { content: await shareRecordsOf(db, content), total };
}

function filteredShares<O>(query: SelectQueryBuilder<Database, 'share', O>, filter: ListFilter) {
  const { environmentId, providerId } = filter;
  let some = narrowed(query, filter);
  if (environmentId !== undefined) some = some.where('environment_id', '=', environmentId);
  if (providerId !== undefined)
    some = some.where(sql<boolean>`exists (select 1 from share_auth_provider
      where share_auth_provider.share_id = share.id and auth_provider_id = ${providerId})`);
  return some;
}
