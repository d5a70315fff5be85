/**
 * Entities of the edge management API. Writers wait for each other, so that what an entity refers to is still there
 * when it is stored.
 */
import { sql } from 'kysely';
import { FrontdoorError, isJsonObject } from '#base';
import { failAlone } from '#net';
import {
  lockedByName,
  isUniqueViolation,
  type Queries,
  type Touch,
  type EdgeEntityKind,
  type EdgeEntityTable,
} from '../../store/mod.ts';
import type { EdgeEntityRecord, JsonObject } from './edge-entity.ts';
import { insertIdentity } from './identity-store.ts';

/** Further entities of a kind are refused. */
export const MAX_EDGE_ENTITIES = 100_000;

/** Must be the first call of a transaction that writes entities. */
export async function lockEdgeEntities(trx: Queries): Promise<void> {
  await lockedByName(trx, 'edge entities');
}

/** Throws `conflict` for a taken name. */
export async function insertEdgeEntity(trx: Queries, touch: Touch, entity: EdgeEntityRecord): Promise<void> {
  await trx
    .insertInto('edge_entity')
    .values(rowOf(entity))
    .execute()
    .catch((error: unknown) => {
      throw isUniqueViolation(error) ? nameTaken(entity.name) : error;
    });
  touch('edge-entity', entity.id);
}

/** Inserts an identity with its row in `identity`, which certificates and sessions refer to. */
export async function insertEdgeIdentity(
  trx: Queries,
  touch: Touch,
  entity: EdgeEntityRecord,
): Promise<void> {
  const { id, name, createdAtMs } = entity;
  await insertIdentity(trx, touch, { id, kind: 'edge', name, createdAtMs });
  await insertEdgeEntity(trx, touch, entity);
}

/** Whether an entity of the kind has the name. */
export async function isEdgeNameTaken(db: Queries, kind: EdgeEntityKind, name: string): Promise<boolean> {
  const query = db.selectFrom('edge_entity').select('id').where('kind', '=', kind).where('name', '=', name);
  return (await query.executeTakeFirst()) !== undefined;
}

/** The identity that signers of tokens know by this id; of several, any. */
export async function findEdgeIdentityByExternalId(
  db: Queries,
  externalId: string,
): Promise<EdgeEntityRecord | undefined> {
  const pattern = `%"externalId":${JSON.stringify(externalId).replaceAll(/[!%_]/g, '!$&')}%`;
  const rows = await db
    .selectFrom('edge_entity')
    .selectAll()
    .where('kind', '=', 'identity')
    .where(sql<boolean>`data like ${pattern} escape '!'`)
    .execute();
  return rows.map(recordOf).find(({ data }) => data['externalId'] === externalId);
}

/** Throws `conflict` for a taken name. */
export async function updateEdgeEntity(trx: Queries, touch: Touch, entity: EdgeEntityRecord): Promise<void> {
  const { id, name, data, tags, updated_at } = rowOf(entity);
  await trx
    .updateTable('edge_entity')
    .set({ name, data, tags, updated_at })
    .where('id', '=', id)
    .execute()
    .catch((error: unknown) => {
      throw isUniqueViolation(error) ? nameTaken(name) : error;
    });
  touch('edge-entity', id);
}

export async function deleteEdgeEntity(trx: Queries, touch: Touch, id: string): Promise<void> {
  await trx.deleteFrom('edge_entity').where('id', '=', id).execute();
  touch('edge-entity', id);
}

export async function findEdgeEntity(
  db: Queries,
  kind: EdgeEntityKind,
  id: string,
): Promise<EdgeEntityRecord | undefined> {
  const query = db.selectFrom('edge_entity').selectAll().where('id', '=', id).where('kind', '=', kind);
  const row = await query.executeTakeFirst();
  return row === undefined ? undefined : recordOf(row);
}

/** Returns the existing ones of `ids`. */
export async function findEdgeEntities(db: Queries, ids: readonly string[]): Promise<EdgeEntityRecord[]> {
  const rows = await db.selectFrom('edge_entity').selectAll().where('id', 'in', ids).execute();
  return rows.map(recordOf);
}

/** Returns the next entities in the order of ids. */
export async function edgeEntitiesAfter(db: Queries, id: string, limit: number): Promise<EdgeEntityRecord[]> {
  const query = db.selectFrom('edge_entity').selectAll().where('id', '>', id).orderBy('id').limit(limit);
  return (await query.execute()).map(recordOf);
}

/** Returns entities whose fields contain the id of another. */
export async function edgeEntitiesNaming(db: Queries, id: string): Promise<EdgeEntityRecord[]> {
  const rows = await db
    .selectFrom('edge_entity')
    .selectAll()
    .where('data', 'like', `%${id}%`)
    .where('id', '!=', id)
    .execute();
  return rows.map(recordOf);
}

/** Whether the entity is a router that may tunnel, and that its administrator gave a role attribute, which lets others use it. */
export function mayTunnelFor({ kind, data }: EdgeEntityRecord, role: string): boolean {
  const { isTunnelerEnabled, roleAttributes } = data;
  const isTunnel = kind === 'edge-router' && isTunnelerEnabled === true;
  return isTunnel && Array.isArray(roleAttributes) && roleAttributes.includes(role);
}

function rowOf(entity: EdgeEntityRecord): EdgeEntityTable {
  return {
    id: entity.id,
    kind: entity.kind,
    name: entity.name,
    data: JSON.stringify(entity.data),
    tags: JSON.stringify(entity.tags),
    created_at: entity.createdAtMs,
    updated_at: entity.updatedAtMs,
  };
}

function recordOf(row: EdgeEntityTable): EdgeEntityRecord {
  return {
    id: row.id,
    kind: row.kind,
    name: row.name,
    data: objectOf(row.id, row.data),
    tags: objectOf(row.id, row.tags),
    createdAtMs: Number(row.created_at),
    updatedAtMs: Number(row.updated_at),
  };
}

/** Without its fields, an entity permits nothing. */
function objectOf(id: string, json: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    failAlone({ kind: 'record', id: `the entity ${id} of the store` }, error);
  }
  return isJsonObject(value) ? { ...value } : {};
}

function nameTaken(name: string): FrontdoorError {
  return new FrontdoorError('conflict', 'conflict', `The name ${name} is taken`);
}
