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

declare const locked: unique symbol;

/** A share as it stays until the transaction ends, but for what the transaction itself changes. */
export interface LockedShare extends ShareRecord {
  readonly [locked]: true;
}

/** Whole records for rows, in their order: one query, and one more where there are custom frontends. */
export async function shareRecordsOf(db: Queries, rows: readonly ShareTable[]): Promise<ShareRecord[]> {
  if (rows.length === 0) return [];
  const relations = await relationsOf(db, rows);
  const customFrontends = relations.some((relation) => relation.has_custom === 1)
    ? await customFrontendsOf(
        db,
        rows.map((row) => row.frontdoor_id),
      )
    : undefined;
  const relationsOfShare = Map.groupBy(relations, (relation) => relation.share_id);
  return rows.map((row) => {
    const own = relationsOfShare.get(row.id) ?? [];
    const idsOf = (kind: Relation['kind']) => own.flatMap((each) => (each.kind === kind ? each.id : []));
    const frontends = own.filter(({ kind }) => kind === 'frontend');
    const authProviderIds = idsOf('provider');
    return shareRecordOf(row, {
      frontends: frontends.map(({ id, zone }) => ({ id, host: `${row.token}.${zone}` })),
      customHosts: customHostsOf(row, frontends, authProviderIds, customFrontends),
      authProviderIds,
      grants: idsOf('grant'),
    });
  });
}

/** One record. The order of its fields is part of the entity tags of shares. */
export function shareRecordOf(
  row: ShareTable,
  relations: Pick<ShareRecord, 'frontends' | 'customHosts' | 'authProviderIds' | 'grants'>,
): ShareRecord {
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
    frontends: relations.frontends,
    customHosts: relations.customHosts,
    authProviderIds: relations.authProviderIds,
    grants: relations.grants,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
  };
}

interface Relation {
  readonly share_id: string;
  readonly kind: 'frontend' | 'grant' | 'provider';
  /** The id of the frontend, of the environment that may dial, or of the auth provider. */
  readonly id: string;
  /** The zone of a frontend; empty for the others. */
  readonly zone: string;
  /** 1 with a frontend: one of the frontdoors has custom frontends, which most have not. */
  readonly has_custom: number;
}

/** Frontends by their age, environments by id, auth providers in their order. */
async function relationsOf(db: Queries, rows: readonly ShareTable[]): Promise<readonly Relation[]> {
  const shareIds = sql.join(rows.map((row) => row.id));
  const frontdoorIds = sql.join([...new Set(rows.map((row) => row.frontdoor_id))]);
  const relations = await sql<Relation>`
    select share_id, 'frontend' as kind, frontend.id as id, frontend.zone as zone, frontend.created_at as place,
      case when exists (select 1 from custom_frontend where frontdoor_id in (${frontdoorIds})) then 1 else 0 end
        as has_custom
    from share_frontend inner join frontend on frontend.id = share_frontend.frontend_id
    where share_id in (${shareIds})
    union all
    select share_id, 'grant', environment_id, '', 0, 0 from share_grant where share_id in (${shareIds})
    union all
    select share_id, 'provider', auth_provider_id, '', share_auth_provider.position, 0
    from share_auth_provider where share_id in (${shareIds})
    order by place, id`.execute(db);
  return relations.rows;
}

/** Returns a share of a frontdoor by its token. */
export async function findShare(
  db: Queries,
  frontdoorId: string,
  token: string,
): Promise<ShareRecord | undefined> {
  const rows = await byToken(db, frontdoorId, token).selectAll().execute();
  const [record] = await shareRecordsOf(db, rows);
  return record;
}

/** The same, locked until the transaction ends. */
export async function findShareForUpdate(
  trx: Queries,
  frontdoorId: string,
  token: string,
): Promise<LockedShare | undefined> {
  const row = lockedForUpdate(trx, byToken(trx, frontdoorId, token).selectAll());
  const [record] = await shareRecordsOf(trx, await row.execute());
  return record as LockedShare | undefined;
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

/**
 * Returns a page of a frontdoor's shares. Sorting by `id` means by token. `statusOf` returns the currently
 * measured status.
 */
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
