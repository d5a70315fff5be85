/**
 * Frontdoors, and access to them: only `grantFrontdoor` and the like make a `GrantedFrontdoor`, and every query
 * about a frontdoor's resources requires one. A row without an owner belongs to nobody.
 */
import { randomUUID } from 'node:crypto';
import { restHostnames, restShareNames } from './resting-name-store.ts';
import { environmentsOf } from '../../overlay/records/mod.ts';
import {
  countedPage,
  lockedForUpdate,
  narrowed,
  type ListFilter,
  type Page,
  type PageRequest,
  type Queries,
  type Touch,
} from '../../store/mod.ts';

const granted = Symbol('granted');

/** A frontdoor that the caller's organization owns. */
export interface GrantedFrontdoor {
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
  readonly [granted]: true;
}

/** Returns undefined for a frontdoor that does not exist, and for one of another organization. */
export async function grantFrontdoor(
  db: Queries,
  organizationId: string,
  frontdoorId: string,
): Promise<GrantedFrontdoor | undefined> {
  const key = grantKey(organizationId, frontdoorId);
  return (await grantFrontdoors(db, [key])).get(key);
}

/** The key of an organization's access to a frontdoor. */
export function grantKey(organizationId: string, frontdoorId: string): string {
  return `${organizationId}/${frontdoorId.toLowerCase()}`;
}

/** `grantFrontdoor` for many, by `grantKey`, in one statement. */
export async function grantFrontdoors(
  db: Queries,
  keys: readonly string[],
): Promise<ReadonlyMap<string, GrantedFrontdoor>> {
  const ids = [...new Set(keys.map((key) => key.slice(key.indexOf('/') + 1)))];
  const rows = await db
    .selectFrom('frontdoor')
    .select(['id', 'name', 'organization_id'])
    .where('id', 'in', ids)
    .execute();
  const owned = new Map(rows.map((row) => [grantKey(row.organization_id, row.id), grantedOf(row)]));
  return new Map(keys.flatMap((key) => (owned.has(key) ? [[key, owned.get(key)!]] : [])));
}

/** Returns the organization's oldest frontdoor. */
export async function firstFrontdoor(
  db: Queries,
  organizationId: string,
): Promise<GrantedFrontdoor | undefined> {
  const row = await db
    .selectFrom('frontdoor')
    .select(['id', 'name', 'organization_id'])
    .where('organization_id', '=', organizationId)
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? undefined : grantedOf(row);
}

export interface OwnedFrontdoor {
  readonly id: string;
  readonly name: string;
  readonly organizationId: string;
}

export async function listFrontdoors(
  db: Queries,
  organizationId: string,
  request: PageRequest,
  filter: ListFilter,
): Promise<Page<OwnedFrontdoor>> {
  const query = db
    .selectFrom('frontdoor')
    .select(['id', 'name', 'organization_id'])
    .where('organization_id', '=', organizationId);
  const { content, total } = await countedPage(narrowed(query, filter), request);
  return {
    content: content.map((row) => ({ id: row.id, name: row.name, organizationId: row.organization_id })),
    total,
  };
}

export async function hasFrontdoor(db: Queries, organizationId: string): Promise<boolean> {
  const row = await db
    .selectFrom('frontdoor')
    .select('id')
    .where('organization_id', '=', organizationId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function createFrontdoor(
  trx: Queries,
  touch: Touch,
  wanted: { readonly organizationId: string; readonly name: string; readonly nowMs: number },
): Promise<GrantedFrontdoor> {
  const row = { id: randomUUID(), name: wanted.name, organization_id: wanted.organizationId };
  await trx
    .insertInto('frontdoor')
    .values({ ...row, created_at: wanted.nowMs })
    .execute();
  touch('frontdoor', row.id);
  return grantedOf(row);
}

/** Returns the frontdoor, locked until the transaction ends; undefined if it has been deleted. */
export async function lockFrontdoor(
  trx: Queries,
  { organizationId, id }: GrantedFrontdoor,
): Promise<GrantedFrontdoor | undefined> {
  await lockedForUpdate(trx, trx.selectFrom('frontdoor').select('id').where('id', '=', id)).execute();
  return grantFrontdoor(trx, organizationId, id);
}

export async function renameFrontdoor(
  trx: Queries,
  touch: Touch,
  before: GrantedFrontdoor,
  name: string,
): Promise<GrantedFrontdoor> {
  await trx.updateTable('frontdoor').set({ name }).where('id', '=', before.id).execute();
  touch('frontdoor', before.id);
  return { ...before, name };
}

/** Deletes a frontdoor with its environments and their certificates, shares, enrollments. Names rest. */
export async function deleteFrontdoor(
  trx: Queries,
  touch: Touch,
  frontdoor: GrantedFrontdoor,
  nowMs: number,
): Promise<boolean> {
  // Locked, so that nothing is added to it, and listeners are notified of everything that it has.
  await lockedForUpdate(
    trx,
    trx.selectFrom('frontdoor').select('id').where('id', '=', frontdoor.id),
  ).execute();
  await lockedForUpdate(
    trx,
    trx.selectFrom('share').select('id').where('frontdoor_id', '=', frontdoor.id),
  ).execute();
  await restShareNames(trx, { column: 'share.frontdoor_id', id: frontdoor.id }, nowMs);
  await restHostnames(trx, frontdoor.id, nowMs);
  // Deleted before the auth providers that they name, whatever the database's order of cascades.
  const shares = await trx
    .deleteFrom('share')
    .where('frontdoor_id', '=', frontdoor.id)
    .returning('id')
    .execute();
  // The domains were deleted with their shares.
  const customFrontends = await trx
    .deleteFrom('hostname_claim')
    .where('frontdoor_id', '=', frontdoor.id)
    .returning('id')
    .execute();
  const identities = await environmentsOf(trx, frontdoor.id).select('id').execute();
  const removed = await trx.deleteFrom('frontdoor').where('id', '=', frontdoor.id).returning('id').execute();
  if (removed.length === 0) return false;
  for (const { id } of shares) touch('share', id);
  for (const { id } of customFrontends) touch('custom-frontend', id);
  for (const { id } of identities) touch('identity', id);
  touch('frontdoor', frontdoor.id);
  return true;
}

function grantedOf(row: { id: string; name: string; organization_id: string }): GrantedFrontdoor {
  return { id: row.id, name: row.name, organizationId: row.organization_id, [granted]: true };
}
