/** Terminators that administrators make for services of the edge management API: addresses that routers dial. */
import { sql } from 'kysely';
import { mapAlone } from '#net';
import type { Queries, Touch, ManagedTerminatorTable } from '../../store/mod.ts';
import type { JsonObject } from '../records/edge-entity-store.ts';
import {
  MAX_TERMINATORS_PER_SERVICE,
  terminatorColumnsOf,
  terminatorOf,
  type FabricTerminator,
} from './fabric-terminator-store.ts';

export interface ManagedTerminator extends FabricTerminator {
  readonly tags: JsonObject;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** Returns false if the service has too many. The caller holds the lock of edge entities. */
export async function insertManagedTerminator(
  trx: Queries,
  touch: Touch,
  terminator: ManagedTerminator,
): Promise<boolean> {
  const { count } = await trx
    .selectFrom('managed_terminator')
    .select(sql<number>`count(*)`.as('count'))
    .where('service_id', '=', terminator.serviceId)
    .executeTakeFirstOrThrow();
  if (count >= MAX_TERMINATORS_PER_SERVICE) return false;
  await trx.insertInto('managed_terminator').values(rowOf(terminator)).execute();
  touch('fabric-terminator', terminator.id);
  return true;
}

/** Service and instance id stay. */
export async function updateManagedTerminator(
  trx: Queries,
  touch: Touch,
  terminator: ManagedTerminator,
): Promise<void> {
  const { id, router_id, binding, address, cost, precedence, tags, updated_at } = rowOf(terminator);
  await trx
    .updateTable('managed_terminator')
    .set({ router_id, binding, address, cost, precedence, tags, updated_at })
    .where('id', '=', id)
    .execute();
  touch('fabric-terminator', id);
}

export async function deleteManagedTerminator(trx: Queries, touch: Touch, id: string): Promise<void> {
  await trx.deleteFrom('managed_terminator').where('id', '=', id).execute();
  touch('fabric-terminator', id);
}

/** Returns the existing ones of `ids`. */
export async function findManagedTerminators(
  db: Queries,
  ids: readonly string[],
): Promise<ManagedTerminator[]> {
  const rows = await db.selectFrom('managed_terminator').selectAll().where('id', 'in', ids).execute();
  return mapAlone(rows, idOf, recordOf);
}

/** Returns the next terminators in the order of ids. */
export async function managedTerminatorsAfter(
  db: Queries,
  id: string,
  limit: number,
): Promise<ManagedTerminator[]> {
  const query = db.selectFrom('managed_terminator').selectAll().where('id', '>', id);
  return mapAlone(await query.orderBy('id').limit(limit).execute(), idOf, recordOf);
}

function rowOf(terminator: ManagedTerminator): ManagedTerminatorTable {
  return {
    ...terminatorColumnsOf(terminator),
    tags: JSON.stringify(terminator.tags),
    created_at: terminator.createdAtMs,
    updated_at: terminator.updatedAtMs,
  };
}

function idOf({ id }: ManagedTerminatorTable): string {
  return `the terminator ${id} of the store`;
}

function recordOf(row: ManagedTerminatorTable): ManagedTerminator {
  return {
    ...terminatorOf(row),
    peerData: new Map(),
    tags: JSON.parse(row.tags) as JsonObject,
    createdAtMs: Number(row.created_at),
    updatedAtMs: Number(row.updated_at),
  };
}
