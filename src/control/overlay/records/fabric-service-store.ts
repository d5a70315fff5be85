/** Fabric services, which routers themselves dial and terminate. They belong to no organization. */
import { randomUUID } from 'node:crypto';
import { FrontdoorError } from '#base';
import type { TerminatorStrategy } from '#domain';
import {
  countedPage,
  narrowed,
  type ListFilter,
  type Page,
  type PageRequest,
  lockedForUpdate,
  type FabricServiceTable,
  isUniqueViolation,
  type Queries,
  type Touch,
} from '../../store/mod.ts';

export interface FabricServiceRecord {
  readonly id: string;
  readonly name: string;
  readonly terminatorStrategy: TerminatorStrategy;
  readonly createdAtMs: number;
}

/** Throws `conflict` for a taken name. */
export async function createFabricService(
  trx: Queries,
  touch: Touch,
  wanted: { readonly name: string; readonly terminatorStrategy: TerminatorStrategy; readonly nowMs: number },
): Promise<FabricServiceRecord> {
  const row: FabricServiceTable = {
    id: randomUUID(),
    name: wanted.name,
    terminator_strategy: wanted.terminatorStrategy,
    created_at: wanted.nowMs,
  };
  await trx
    .insertInto('fabric_service')
    .values(row)
    .execute()
    .catch((error: unknown) => {
      throw isUniqueViolation(error) ? nameTaken(wanted.name) : error;
    });
  touch('fabric-service', row.id);
  return recordOf(row);
}

export async function findFabricService(db: Queries, id: string): Promise<FabricServiceRecord | undefined> {
  return (await findFabricServices(db, [id]))[0];
}

/** Returns the service, locked until the transaction ends. */
export async function lockFabricService(trx: Queries, id: string): Promise<FabricServiceRecord | undefined> {
  const query = trx.selectFrom('fabric_service').selectAll().where('id', '=', id);
  const row = await lockedForUpdate(trx, query).executeTakeFirst();
  return row === undefined ? undefined : recordOf(row);
}

export async function listFabricServices(
  db: Queries,
  request: PageRequest,
  filter: ListFilter,
): Promise<Page<FabricServiceRecord>> {
  const query = narrowed(db.selectFrom('fabric_service').selectAll(), filter);
  const { content, total } = await countedPage(query, request);
  return { content: content.map(recordOf), total };
}

/** Throws `conflict` for a taken name. */
export async function changeFabricService(
  trx: Queries,
  touch: Touch,
  before: FabricServiceRecord,
  change: {
    readonly name?: string | undefined;
    readonly terminatorStrategy?: TerminatorStrategy | undefined;
  },
): Promise<FabricServiceRecord> {
  const { id } = before;
  const { name = before.name, terminatorStrategy = before.terminatorStrategy } = change;
  await trx
    .updateTable('fabric_service')
    .set({ name, terminator_strategy: terminatorStrategy })
    .where('id', '=', id)
    .execute()
    .catch((error: unknown) => {
      throw isUniqueViolation(error) ? nameTaken(name) : error;
    });
  touch('fabric-service', id);
  return { ...before, name, terminatorStrategy };
}

/** Deletes it with its terminators. */
export async function deleteFabricService(trx: Queries, touch: Touch, id: string): Promise<void> {
  await trx.deleteFrom('fabric_service').where('id', '=', id).execute();
  touch('fabric-service', id);
}

/** Returns the existing ones of `ids`. */
export async function findFabricServices(
  db: Queries,
  ids: readonly string[],
): Promise<FabricServiceRecord[]> {
  const rows = await db.selectFrom('fabric_service').selectAll().where('id', 'in', ids).execute();
  return rows.map(recordOf);
}

/** Returns the next services in the order of ids. */
export async function fabricServicesAfter(
  db: Queries,
  id: string,
  limit: number,
): Promise<FabricServiceRecord[]> {
  const query = db.selectFrom('fabric_service').selectAll().where('id', '>', id).orderBy('id').limit(limit);
  return (await query.execute()).map(recordOf);
}

function recordOf(row: FabricServiceTable): FabricServiceRecord {
  return {
    id: row.id,
    name: row.name,
    terminatorStrategy: row.terminator_strategy,
    createdAtMs: row.created_at,
  };
}

function nameTaken(name: string): FrontdoorError {
  return new FrontdoorError('conflict', 'conflict', `The service name ${name} is taken`);
}
