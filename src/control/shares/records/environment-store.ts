/** Environments of a granted frontdoor. An agent and its environment are one record with one id. */
import { sql } from 'kysely';
import { FrontdoorError } from '#base';
import { isUuid } from '#domain';
import type { GrantedFrontdoor } from './frontdoor-store.ts';
import {
  orderedPage,
  isFiltered,
  narrowed,
  type ListFilter,
  type ListOrder,
  inOrderOf,
  measuredIds,
  type Page,
  type PageRequest,
  lockedForUpdate,
  type Queries,
  type Store,
  type Touch,
} from '../../store/mod.ts';
import {
  deleteEnvironmentIdentity,
  environmentsOf,
  lockIdentity,
  renameIdentity,
} from '../../overlay/records/mod.ts';
import { restShareNames } from './resting-name-store.ts';

export interface EnvironmentRecord {
  readonly id: string;
  readonly name: string;
  /** Null until an agent of Frontdoor has reported it. */
  readonly agentVersion: string | null;
  readonly createdAtMs: number;
  /** Null until its agent has called. */
  readonly lastSeenAtMs: number | null;
  readonly remoteAddress: string | null;
}

/** Environments of one name that a refusal lists. */
const MOST_OF_A_NAME = 10;

const COLUMNS = [
  ...(['id', 'name', 'agent_version', 'created_at'] as const),
  ...(['last_seen_at', 'remote_address'] as const),
] as const;

const ORDER: ListOrder = {
  kind: 'environment',
  tie: sql.ref('id'),
  fields: {
    default: sql.ref('created_at'),
    createdAt: sql.ref('created_at'),
    name: sql.ref('name'),
    id: sql.ref('id'),
  },
};

/** `statusOf` returns the currently measured status. */
export async function listEnvironments(
  store: Pick<Store, 'db' | 'lists'>,
  frontdoor: GrantedFrontdoor,
  request: PageRequest,
  filter: ListFilter = {},
  statusOf: (environment: { readonly id: string }) => string = () => '',
): Promise<Page<EnvironmentRecord>> {
  const all = environmentsOf(store.db, frontdoor.id).select(COLUMNS);
  const some = narrowed(all, filter);
  if (filter.status !== undefined || request.sort === 'status') {
    const value = ORDER.fields[request.sort] ?? sql<unknown>`''`;
    const keysAfter = (id: string, limit: number) =>
      some
        .clearSelect()
        .select(['id', 'id as tie', sql<unknown>`${value}`.as('value')])
        .where('id', '>', id)
        .orderBy('id')
        .limit(limit)
        .execute();
    const page = await measuredIds({ keysAfter, statusOf, status: filter.status }, request);
    if (page.content.length === 0) return { content: [], total: page.total };
    const rows = await all.where('id', 'in', page.content).execute();
    return { content: inOrderOf(page.content, rows).map(recordOf), total: page.total };
  }
  const { content, total } = isFiltered(filter)
    ? await orderedPage(some, ORDER, request)
    : await store.lists.page(store.db, all, ORDER, frontdoor.id, request);
  return { content: content.map(recordOf), total };
}

export async function findEnvironment(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  id: string,
): Promise<EnvironmentRecord | undefined> {
  const row = await environmentsOf(db, frontdoor.id).select(COLUMNS).where('id', '=', id).executeTakeFirst();
  return row === undefined ? undefined : recordOf(row);
}

/**
 * Returns the IDs of environments that are given by ID or name. Other texts stay as they are, for the refusal.
 * @throws FrontdoorError `invalid` for a name that several have.
 */
export async function environmentIdsOf(
  db: Queries,
  frontdoorId: string,
  given: readonly string[],
): Promise<readonly string[]> {
  const names = given.filter((each) => !isUuid(each));
  if (names.length === 0) return given;
  const named = environmentsOf(db, frontdoorId).select(['id', 'name']).where('name', 'in', names);
  const found = await named.limit(names.length * MOST_OF_A_NAME).execute();
  return given.map((each) => {
    const ids = found.filter(({ name }) => name === each).map(({ id }) => id);
    if (ids.length < 2) return ids[0] ?? each;
    const message = `Value for grants must be of ID: several environments are called ${each} (${ids.join(', ')})`;
    throw new FrontdoorError('invalid', 'invalid-request', message);
  });
}

/** Returns the environment, locked until the transaction ends. */
export async function lockEnvironment(
  trx: Queries,
  frontdoor: GrantedFrontdoor,
  id: string,
): Promise<EnvironmentRecord | undefined> {
  await lockIdentity(trx, id);
  return findEnvironment(trx, frontdoor, id);
}

export async function renameEnvironment(
  trx: Queries,
  touch: Touch,
  before: EnvironmentRecord,
  name: string,
): Promise<EnvironmentRecord> {
  await renameIdentity(trx, touch, before.id, name);
  return { ...before, name };
}

/**
 * Deletes an environment with its certificates, sessions, shares and grants; names rest. Returns false if it does
 * not exist.
 */
export async function deleteEnvironment(
  trx: Queries,
  touch: Touch,
  frontdoor: GrantedFrontdoor,
  id: string,
  nowMs: number,
): Promise<boolean> {
  // Locked, so that nothing is added to it, and listeners are notified of everything that it has.
  await lockIdentity(trx, id);
  const hosted = await lockedForUpdate(
    trx,
    trx.selectFrom('share').select('id').where('environment_id', '=', id),
  ).execute();
  if (hosted.length > 0) await restShareNames(trx, { column: 'share.environment_id', id }, nowMs);
  if (!(await deleteEnvironmentIdentity(trx, touch, frontdoor.id, id))) return false;
  for (const share of hosted) touch('share', share.id);
  return true;
}

/** Returns the number of shares of each of these environments that has any. */
export async function countSharesOf(
  db: Queries,
  environmentIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (environmentIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('share')
    .select(['environment_id', sql<number>`count(*)`.as('total')])
    .where('environment_id', 'in', environmentIds)
    .groupBy('environment_id')
    .execute();
  return new Map(rows.map((row) => [row.environment_id, Number(row.total)]));
}

interface EnvironmentRow {
  readonly id: string;
  readonly name: string;
  readonly agent_version: string | null;
  readonly created_at: number;
  readonly last_seen_at: number | null;
  readonly remote_address: string | null;
}

function recordOf(row: EnvironmentRow): EnvironmentRecord {
  return {
    id: row.id,
    name: row.name,
    agentVersion: row.agent_version,
    createdAtMs: row.created_at,
    lastSeenAtMs: row.last_seen_at,
    remoteAddress: row.remote_address,
  };
}
