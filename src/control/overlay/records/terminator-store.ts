/**
 * The rows of terminators: where services are reached. One table has all kinds. Those of `share` and `edge` belong to programs
 * that host a service, whose routers announce them; those of `managed` and `fabric` are addresses that routers dial.
 */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { base62, FrontdoorError } from '#base';
import { mapAlone } from '#net';
import { lockedForUpdate, type Queries, type TerminatorKind, type Touch } from '../../store/mod.ts';
import { lockFabricService } from './fabric-service-store.ts';
import { encodePeerData } from './peer-data-column.ts';
import {
  columnsOf,
  hostedOf,
  managedOf,
  nameOf,
  placeOf,
  SERVICE_COLUMNS,
  type FabricTerminator,
  type ManagedTerminator,
  type StoredTerminator,
} from './terminator-record.ts';

export type { FabricTerminator, ManagedTerminator, StoredTerminator } from './terminator-record.ts';

export type NewFabricTerminator = Omit<FabricTerminator, 'id'>;

export type FabricTerminatorChange = {
  readonly [K in 'address' | 'instanceId' | 'cost' | 'precedence']?: FabricTerminator[K] | undefined;
};

/** More than load balancing needs. Stops a router that creates terminators endlessly. */
export const MAX_TERMINATORS_PER_SERVICE = 128;

const CHUNK = 500;
const HOSTED: readonly TerminatorKind[] = ['share', 'edge'];
const DIALED: readonly TerminatorKind[] = ['managed', 'fabric'];
const OF_EDGE: readonly TerminatorKind[] = ['edge', 'managed'];

/** Returns every terminator of hosting programs, or the existing ones of `ids`. */
export async function readRows(db: Queries, ids?: readonly string[]): Promise<StoredTerminator[]> {
  const found: StoredTerminator[] = [];
  if (ids !== undefined) {
    for (let at = 0; at < ids.length; at += CHUNK) {
      const some = rowsOf(db, HOSTED).where('id', 'in', ids.slice(at, at + CHUNK));
      found.push(...(await some.execute()).map(hostedOf));
    }
    return found;
  }
  for (;;) {
    const rows = await rowsAfter(db, HOSTED, found.at(-1)?.id ?? '', CHUNK);
    found.push(...rows.map(hostedOf));
    if (rows.length < CHUNK) return found;
  }
}

/** Returns false if there is a terminator with this id. */
export async function insertRow(trx: Queries, terminator: StoredTerminator): Promise<boolean> {
  const { isEdge, identityId, createdAtMs } = terminator;
  const row = await trx
    .insertInto('terminator')
    .values({
      ...columnsOf(isEdge === true ? 'edge' : 'share', terminator),
      identity_id: identityId,
      created_at: createdAtMs,
    })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function updateRow(
  trx: Queries,
  { id, peerData, cost, precedence }: StoredTerminator,
): Promise<void> {
  const change = { peer_data: encodePeerData(peerData), cost, precedence };
  await trx.updateTable('terminator').set(change).where('id', '=', id).execute();
}

export async function deleteRows(trx: Queries, ids: readonly string[]): Promise<void> {
  await trx.deleteFrom('terminator').where('id', 'in', ids).where('kind', 'in', HOSTED).execute();
}

/** Returns the ids of the rows, which all belonged to the router. */
export async function deleteRowsOf(
  trx: Queries,
  routerId: string,
  ids: readonly string[],
): Promise<readonly string[]> {
  const deleted: string[] = [];
  for (let at = 0; at < ids.length; at += CHUNK) {
    const rows = await trx
      .deleteFrom('terminator')
      .where('id', 'in', ids.slice(at, at + CHUNK))
      .where('kind', 'in', HOSTED)
      .where('router_id', '=', routerId)
      .returning('id')
      .execute();
    deleted.push(...rows.map(({ id }) => id));
  }
  return deleted;
}

/** What clients are shown of a terminator. */
export type ServiceTerminator = Pick<StoredTerminator, 'id' | 'serviceId' | 'routerId' | 'instanceId'>;

/** Returns the terminators of a share, or of a service of the edge management API, in the order of ids. */
export async function terminatorsOfService(
  db: Queries,
  serviceId: string,
  isHosted: boolean,
): Promise<ServiceTerminator[]> {
  const rows = await db
    .selectFrom('terminator')
    .select(['id', 'instance_id', 'router_id'])
    .where(isHosted ? 'share_id' : 'entity_id', '=', serviceId)
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    serviceId,
    routerId: row.router_id,
    instanceId: row.instance_id,
  }));
}

/** Returns the terminators of programs that host services of the edge management API, or the one with this id. */
export async function hostedEdgeTerminators(db: Queries, id?: string): Promise<StoredTerminator[]> {
  const all = rowsOf(db, ['edge']);
  const rows = await (id === undefined ? all : all.where('id', '=', id)).execute();
  return rows.map(hostedOf);
}

export async function changeHostedTerminator(
  trx: Queries,
  touch: Touch,
  { id, cost, precedence }: Pick<StoredTerminator, 'id' | 'cost' | 'precedence'>,
): Promise<void> {
  const hosted = trx.updateTable('terminator').set({ cost, precedence }).where('kind', 'in', HOSTED);
  await hosted.where('id', '=', id).execute();
  touch('terminator', id);
}

export async function deleteHostedTerminator(trx: Queries, touch: Touch, id: string): Promise<void> {
  await deleteRows(trx, [id]);
  touch('terminator', id);
}

/** Counts the terminators of services of the edge management API. */
export async function countEdgeTerminators(db: Queries): Promise<number> {
  const { count } = await db
    .selectFrom('terminator')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('kind', 'in', OF_EDGE)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Errors: `conflict` if the service or router was deleted, or the service has too many. */
export async function createFabricTerminator(
  trx: Queries,
  touch: Touch,
  wanted: NewFabricTerminator,
  nowMs: number,
): Promise<FabricTerminator> {
  const { serviceId } = wanted;
  // Locked, so that concurrent calls do not exceed the limit.
  if ((await lockFabricService(trx, serviceId)) === undefined) {
    throw new FrontdoorError('conflict', 'service-gone', `Service ${serviceId} was deleted`);
  }
  if (await isServiceFull(trx, 'fabric', serviceId)) {
    const message = `A service has at most ${MAX_TERMINATORS_PER_SERVICE} terminators`;
    throw new FrontdoorError('conflict', 'too-many-terminators', message);
  }
  const record: FabricTerminator = { id: base62(randomBytes(16)), ...wanted };
  await trx
    .insertInto('terminator')
    .values({ ...columnsOf('fabric', record), created_at: nowMs })
    .execute();
  touch('fabric-terminator', record.id);
  return record;
}

/** Returns the terminator of a fabric service, locked until the transaction ends. */
export async function lockFabricTerminator(trx: Queries, id: string): Promise<FabricTerminator | undefined> {
  const row = await lockedForUpdate(trx, rowsOf(trx, ['fabric']).where('id', '=', id)).executeTakeFirst();
  return row === undefined ? undefined : placeOf(row);
}

export async function changeFabricTerminator(
  trx: Queries,
  touch: Touch,
  before: FabricTerminator,
  change: FabricTerminatorChange,
): Promise<FabricTerminator> {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  const after: FabricTerminator = { ...before, ...Object.fromEntries(given) };
  const { id, address, instanceId, cost, precedence } = after;
  await trx
    .updateTable('terminator')
    .set({ address, instance_id: instanceId, cost, precedence })
    .where('id', '=', id)
    .execute();
  touch('fabric-terminator', id);
  return after;
}

/** Ids that are not of fabric services are skipped. */
export async function deleteFabricTerminators(
  trx: Queries,
  touch: Touch,
  ids: readonly string[],
): Promise<void> {
  const removed = await trx
    .deleteFrom('terminator')
    .where('id', 'in', ids)
    .where('kind', '=', 'fabric')
    .returning('id')
    .execute();
  for (const { id } of removed) touch('fabric-terminator', id);
}

/** Returns the addresses that routers dial, of every service, among `ids`. */
export async function findDialedTerminators(
  db: Queries,
  ids: readonly string[],
): Promise<FabricTerminator[]> {
  return mapAlone(await rowsOf(db, DIALED).where('id', 'in', ids).execute(), nameOf, placeOf);
}

/** Returns the next of these in the order of ids. */
export async function dialedTerminatorsAfter(
  db: Queries,
  id: string,
  limit: number,
): Promise<FabricTerminator[]> {
  return mapAlone(await rowsAfter(db, DIALED, id, limit), nameOf, placeOf);
}

/** Returns false if the service has too many. The caller holds the lock of edge entities. */
export async function insertManagedTerminator(
  trx: Queries,
  touch: Touch,
  terminator: ManagedTerminator,
): Promise<boolean> {
  if (await isServiceFull(trx, 'managed', terminator.serviceId)) return false;
  const { tags, createdAtMs, updatedAtMs } = terminator;
  await trx
    .insertInto('terminator')
    .values({
      ...columnsOf('managed', terminator),
      tags: JSON.stringify(tags),
      created_at: createdAtMs,
      updated_at: updatedAtMs,
    })
    .execute();
  touch('fabric-terminator', terminator.id);
  return true;
}

/** Service and instance id stay. */
export async function updateManagedTerminator(
  trx: Queries,
  touch: Touch,
  terminator: ManagedTerminator,
): Promise<void> {
  const { id, tags, updatedAtMs } = terminator;
  const { router_id, binding, address, cost, precedence } = columnsOf('managed', terminator);
  await trx
    .updateTable('terminator')
    .set({ router_id, binding, address, cost, precedence })
    .set({ tags: JSON.stringify(tags), updated_at: updatedAtMs })
    .where('id', '=', id)
    .execute();
  touch('fabric-terminator', id);
}

export async function deleteManagedTerminator(trx: Queries, touch: Touch, id: string): Promise<void> {
  await trx.deleteFrom('terminator').where('id', '=', id).where('kind', '=', 'managed').execute();
  touch('fabric-terminator', id);
}

/** Returns those that administrators made, all or the one with this id. */
export async function managedTerminators(db: Queries, id?: string): Promise<ManagedTerminator[]> {
  if (id !== undefined) {
    const rows = await rowsOf(db, ['managed']).where('id', '=', id).execute();
    return mapAlone(rows, nameOf, managedOf);
  }
  const found: ManagedTerminator[] = [];
  for (let after = ''; ;) {
    const rows = await rowsAfter(db, ['managed'], after, CHUNK);
    found.push(...mapAlone(rows, nameOf, managedOf));
    if (rows.length < CHUNK) return found;
    after = rows.at(-1)!.id;
  }
}

function rowsOf(db: Queries, kinds: readonly TerminatorKind[]) {
  return db.selectFrom('terminator').selectAll().where('kind', 'in', kinds);
}

function rowsAfter(db: Queries, kinds: readonly TerminatorKind[], id: string, limit: number) {
  return rowsOf(db, kinds).where('id', '>', id).orderBy('id').limit(limit).execute();
}

async function isServiceFull(trx: Queries, kind: 'managed' | 'fabric', serviceId: string): Promise<boolean> {
  const { count } = await trx
    .selectFrom('terminator')
    .select(sql<number>`count(*)`.as('count'))
    .where('kind', '=', kind)
    .where(SERVICE_COLUMNS[kind], '=', serviceId)
    .executeTakeFirstOrThrow();
  return count >= MAX_TERMINATORS_PER_SERVICE;
}
