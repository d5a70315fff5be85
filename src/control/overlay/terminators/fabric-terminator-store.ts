/** Terminators of fabric services: addresses that routers dial. */
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { base62, FrontdoorError } from '#base';
import { lockFabricService } from '../records/fabric-service-store.ts';
import { decodePeerData, encodePeerData } from './peer-data-column.ts';
import { lockedForUpdate, type FabricTerminatorTable, type Queries, type Touch } from '../../store/mod.ts';

/** An address at which a fabric service is reached, and which a router dials with a binding. */
export interface FabricTerminator {
  readonly id: string;
  readonly serviceId: string;
  readonly routerId: string;
  /** `transport`. */
  readonly binding: string;
  /** `tcp:127.0.0.1:5432`, `tls:…`. */
  readonly address: string;
  readonly instanceId: string;
  readonly cost: number;
  /** 0 default, 1 required, 2 failed. */
  readonly precedence: number;
  readonly peerData: ReadonlyMap<number, Uint8Array>;
}

export type NewFabricTerminator = Omit<FabricTerminator, 'id'>;

export type FabricTerminatorChange = {
  readonly [K in 'address' | 'instanceId' | 'cost' | 'precedence']?: FabricTerminator[K] | undefined;
};

/** More than load balancing needs. Stops a router that creates terminators endlessly. */
export const MAX_TERMINATORS_PER_SERVICE = 128;

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
  const { count } = await trx
    .selectFrom('fabric_terminator')
    .select(sql<number>`count(*)`.as('count'))
    .where('service_id', '=', serviceId)
    .executeTakeFirstOrThrow();
  if (count >= MAX_TERMINATORS_PER_SERVICE) {
    const message = `A service has at most ${MAX_TERMINATORS_PER_SERVICE} terminators`;
    throw new FrontdoorError('conflict', 'too-many-terminators', message);
  }
  const record: FabricTerminator = { id: base62(randomBytes(16)), ...wanted };
  await trx.insertInto('fabric_terminator').values(rowOf(record, nowMs)).execute();
  touch('fabric-terminator', record.id);
  return record;
}

/** Returns the terminator, locked until the transaction ends. */
export async function lockFabricTerminator(trx: Queries, id: string): Promise<FabricTerminator | undefined> {
  const query = trx.selectFrom('fabric_terminator').selectAll().where('id', '=', id);
  const row = await lockedForUpdate(trx, query).executeTakeFirst();
  return row === undefined ? undefined : recordOf(row);
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
    .updateTable('fabric_terminator')
    .set({ address, instance_id: instanceId, cost, precedence })
    .where('id', '=', id)
    .execute();
  touch('fabric-terminator', id);
  return after;
}

/** Unknown ids are skipped. */
export async function deleteFabricTerminators(
  trx: Queries,
  touch: Touch,
  ids: readonly string[],
): Promise<void> {
  const removed = await trx.deleteFrom('fabric_terminator').where('id', 'in', ids).returning('id').execute();
  for (const { id } of removed) touch('fabric-terminator', id);
}

/** Returns the existing ones of `ids`. */
export async function findFabricTerminators(
  db: Queries,
  ids: readonly string[],
): Promise<FabricTerminator[]> {
  const rows = await db.selectFrom('fabric_terminator').selectAll().where('id', 'in', ids).execute();
  return rows.map(recordOf);
}

/** Returns the next terminators in the order of ids. */
export async function fabricTerminatorsAfter(
  db: Queries,
  id: string,
  limit: number,
): Promise<FabricTerminator[]> {
  const query = db.selectFrom('fabric_terminator').selectAll().where('id', '>', id);
  return (await query.orderBy('id').limit(limit).execute()).map(recordOf);
}

/** The columns that terminators of fabric services and of the edge management API have in common. */
type TerminatorColumns = Omit<FabricTerminatorTable, 'peer_data' | 'created_at'>;

export function terminatorColumnsOf(record: FabricTerminator): TerminatorColumns {
  return {
    id: record.id,
    service_id: record.serviceId,
    router_id: record.routerId,
    binding: record.binding,
    address: record.address,
    instance_id: record.instanceId,
    cost: record.cost,
    precedence: record.precedence,
  };
}

/** The reverse of `terminatorColumnsOf`. */
export function terminatorOf(row: TerminatorColumns): Omit<FabricTerminator, 'peerData'> {
  return {
    id: row.id,
    serviceId: row.service_id,
    routerId: row.router_id,
    binding: row.binding,
    address: row.address,
    instanceId: row.instance_id,
    cost: row.cost,
    precedence: row.precedence,
  };
}

function rowOf(record: FabricTerminator, nowMs: number): FabricTerminatorTable {
  return {
    ...terminatorColumnsOf(record),
    peer_data: encodePeerData(record.peerData),
    created_at: nowMs,
  };
}

function recordOf(row: FabricTerminatorTable): FabricTerminator {
  return { ...terminatorOf(row), peerData: decodePeerData(row.peer_data) };
}
