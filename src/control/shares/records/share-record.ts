/** Shares as the rest of the control plane reads them: the row with its frontends, grants and providers. */
import { sql, type SelectQueryBuilder } from 'kysely';
import type { Share } from '#domain';
import { customHostsOf } from './custom-host.ts';
import type { GrantedFrontdoor } from './frontdoor-store.ts';
import {
  matchedPage,
  isFiltered,
  narrowed,
  type ListFilter,
  type ListOrder,
  inOrderOf,
  type Page,
  type PageRequest,
  lockedForUpdate,
  isPostgres,
  type Database,
  type ShareTable,
  type Queries,
  type Store,
} from '../../store/mod.ts';
import { relatedShares, relationsOf, type RelatedShare, type ShareRelations } from './share-relations.ts';

const LOCKED = Symbol('locked share');

/** A share as it stays until the transaction ends, but for what the transaction itself changes. */
export interface LockedShare extends Share {
  readonly [LOCKED]: ShareRelations;
}

/** What the record of a locked share was made from. */
export function relationsOfLocked(share: LockedShare): ShareRelations {
  return share[LOCKED];
}

/** Whole records for rows, in their order. */
async function shareRecordsOf(db: Queries, rows: readonly ShareTable[]): Promise<Share[]> {
  return (await relationsOf(db, rows)).map(shareRecordOf);
}

/** One record. The order of its fields is part of the entity tags of shares. */
export function shareRecordOf({ row, relations }: RelatedShare<ShareTable>): Share {
  const { frontends, authProviderIds, grants } = relations;
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
    ingress: row.ingress,
    ingressPort: row.ingress_port,
    epoch: row.epoch,
    frontends: frontends.map(({ id, zone }) => ({ id, host: `${row.token}.${zone}` })),
    customHosts: customHostsOf(row.token, frontends, authProviderIds, relations),
    authProviderIds,
    accessPolicyId: row.policy_id,
    grants,
    createdAtMs: row.created_at,
    updatedAtMs: row.updated_at,
  };
}

/** Returns a share of a frontdoor by its token. */
export async function findShare(db: Queries, frontdoorId: string, token: string): Promise<Share | undefined> {
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
export async function listSharesOf(
  db: Queries,
  environmentId: string,
  limit = Number.MAX_SAFE_INTEGER,
): Promise<Share[]> {
  const rows = await db
    .selectFrom('share')
    .selectAll()
    .where('environment_id', '=', environmentId)
    .orderBy('token')
    .limit(limit)
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

/** Returns a page of a frontdoor's shares. Sorting by `id` means by token. States are measured and in no table. */
export async function listShares(
  store: Pick<Store, 'db' | 'lists'>,
  frontdoor: GrantedFrontdoor,
  request: PageRequest,
  filter: ListFilter,
): Promise<Page<Share>> {
  const { db, lists } = store;
  const all = db.selectFrom('share').selectAll().where('frontdoor_id', '=', frontdoor.id);
  const { content, total } = isFiltered(filter)
    ? await matchedPage(filteredShares(db, all, filter), ORDER, request)
    : await lists.page(db, all, ORDER, frontdoor.id, request);
  return { content: await shareRecordsOf(db, content), total };
}

/** Returns shares of a frontdoor in the order of their ids, without those that were deleted. At most a page. */
export async function findSharesInOrder(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  ids: readonly string[],
): Promise<Share[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('share')
    .selectAll()
    .where('frontdoor_id', '=', frontdoor.id)
    .where('id', 'in', ids)
    .execute();
  return shareRecordsOf(db, inOrderOf(ids, rows));
}

function filteredShares<O>(db: Queries, query: SelectQueryBuilder<Database, 'share', O>, filter: ListFilter) {
  const { environmentId, providerId, policyId } = filter;
  // The index of the embedded database has the name in lower case; for PostgreSQL, `lower` takes half of the time.
  let some = narrowed(query, filter, { isLowerCase: isPostgres(db) });
  if (environmentId !== undefined) some = some.where('environment_id', '=', environmentId);
  if (providerId !== undefined)
    some = some.where(sql<boolean>`id in (select share_id from share_auth_provider
      where auth_provider_id = ${providerId})`);
  if (policyId !== undefined) some = some.where('policy_id', '=', policyId);
  return some;
}
