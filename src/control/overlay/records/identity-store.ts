/** The rows of identities, which certificates, sessions and terminators refer to. Callers check permissions before. */
import type { SelectQueryBuilder } from 'kysely';
import {
  lockedForUpdate,
  type Database,
  type IdentityTable,
  type Queries,
  type Touch,
} from '../../store/mod.ts';

export type IdentityKind = IdentityTable['kind'];

export interface IdentityRecord {
  readonly id: string;
  readonly kind: IdentityKind;
  readonly name: string;
  readonly createdAtMs: number;
}

export async function insertIdentity(
  trx: Queries,
  touch: Touch,
  wanted: IdentityRecord & { readonly ownerId?: string | null },
): Promise<void> {
  const { id, kind, name, ownerId = null, createdAtMs } = wanted;
  await trx
    .insertInto('identity')
    .values({ id, kind, name, frontdoor_id: ownerId, agent_version: null, created_at: createdAtMs })
    .execute();
  touch('identity', id);
}

export async function findIdentity(db: Queries, id: string): Promise<IdentityRecord | undefined> {
  const row = await db
    .selectFrom('identity')
    .select(['id', 'kind', 'name', 'created_at'])
    .where('id', '=', id)
    .executeTakeFirst();
  return row && recordOf(row);
}

/** Returns those of the kind by name. */
export async function identitiesOfKind(db: Queries, kind: IdentityKind): Promise<IdentityRecord[]> {
  const rows = await db
    .selectFrom('identity')
    .select(['id', 'kind', 'name', 'created_at'])
    .where('kind', '=', kind)
    .orderBy('name')
    .orderBy('id')
    .execute();
  return rows.map(recordOf);
}

/** Returns which of these ids are identities. */
export async function existingIdentities(db: Queries, ids: readonly string[]): Promise<string[]> {
  const rows = await db.selectFrom('identity').select('id').where('id', 'in', ids).execute();
  return rows.map(({ id }) => id);
}

/** Locks the identity until the transaction ends, so that nothing is added to it. */
export async function lockIdentity(trx: Queries, id: string): Promise<void> {
  await lockedForUpdate(trx, trx.selectFrom('identity').select('id').where('id', '=', id)).execute();
}

export async function renameIdentity(trx: Queries, touch: Touch, id: string, name: string): Promise<void> {
  await trx.updateTable('identity').set({ name }).where('id', '=', id).execute();
  touch('identity', id);
}

/** Deletes an identity of the edge management API with its open enrollments. */
export async function deleteEdgeIdentity(trx: Queries, touch: Touch, id: string): Promise<void> {
  await trx.deleteFrom('identity').where('id', '=', id).where('kind', '=', 'edge').execute();
  await trx.deleteFrom('enrollment').where('identity_id', '=', id).execute();
  touch('identity', id);
}

/**
 * The environments of an owner, for lists, joins and insertions in which they are one part of one statement. Callers have
 * found the owner in the organization of their caller.
 */
export function environmentsOf(
  db: Queries,
  ownerId: string,
): SelectQueryBuilder<Database, 'identity', object> {
  return db.selectFrom('identity').where('frontdoor_id', '=', ownerId).where('kind', '=', 'environment');
}

/** Deletes an environment with its certificates and sessions. Returns whether it was one of the owner. */
export async function deleteEnvironmentIdentity(
  trx: Queries,
  touch: Touch,
  ownerId: string,
  id: string,
): Promise<boolean> {
  const removed = await trx
    .deleteFrom('identity')
    .where('id', '=', id)
    .where('kind', '=', 'environment')
    .where('frontdoor_id', '=', ownerId)
    .returning('id')
    .execute();
  if (removed.length > 0) touch('identity', id);
  return removed.length > 0;
}

/** Returns the owner of each of these ids that is an environment. */
export async function ownersOfEnvironments(
  db: Queries,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom('identity')
    .select(['id', 'frontdoor_id'])
    .where('id', 'in', ids)
    .where('kind', '=', 'environment')
    .execute();
  return new Map(rows.flatMap(({ id, frontdoor_id }) => (frontdoor_id === null ? [] : [[id, frontdoor_id]])));
}

/** Stores what its agent reported. Returns the version before; undefined if it is the same, or the identity is gone. */
export async function changeAgentVersion(
  trx: Queries,
  touch: Touch,
  id: string,
  version: string,
): Promise<{ readonly before: string | null } | undefined> {
  const known = trx.selectFrom('identity').select('agent_version').where('id', '=', id);
  const row = await lockedForUpdate(trx, known).executeTakeFirst();
  // Sent at every start of an agent, and rarely changed.
  if (row === undefined || row.agent_version === version) return undefined;
  await trx.updateTable('identity').set({ agent_version: version }).where('id', '=', id).execute();
  touch('identity', id);
  return { before: row.agent_version };
}

function recordOf(row: Pick<IdentityTable, 'id' | 'kind' | 'name' | 'created_at'>): IdentityRecord {
  return { id: row.id, kind: row.kind, name: row.name, createdAtMs: Number(row.created_at) };
}
