/**
 * Who may come to a share: gateways of its frontends when it is public, granted environments when it is private, and
 * callers whom its auth providers let in. A change checks and inserts only what it adds, and deletes only what it takes
 * away: foreign keys hold what stays. Errors: `conflict`, `notFound` and `invalid`, with messages that may be shown.
 */
import { sql } from 'kysely';
import { FrontdoorError } from '#base';
import { invalidValue } from '#domain';
import { isUniqueViolation } from '../engine/store-errors.ts';
import type { Queries } from '../engine/store.ts';
import { claimNames, restShareNames } from './resting-name-store.ts';
import type { ShareRecord } from './share-record.ts';

export interface WantedReach {
  /** Undefined or empty: a public share takes the default frontend. */
  readonly frontendIds?: readonly string[] | undefined;
  readonly grants?: readonly string[] | undefined;
}

export interface ShareReach {
  readonly frontendIds: readonly string[];
  readonly grants: readonly string[];
}

type ReachedShare = Pick<ShareRecord, 'id' | 'token' | 'frontdoorId' | 'shareMode'>;

/** Gives a share the wanted frontends and grants in place of those before. Returns what it has then. */
export async function putReach(
  trx: Queries,
  share: ReachedShare,
  before: ShareReach,
  wanted: WantedReach,
  nowMs: number,
): Promise<ShareReach> {
  const frontendIds = [...new Set(wanted.frontendIds)];
  const grants = [...new Set(wanted.grants)];
  if (share.shareMode === 'private') {
    if (frontendIds.length > 0)
      throw invalidValue('frontendIds', 'an empty array: a private share has no frontend');
    await leaveFrontends(trx, share, before.frontendIds, nowMs);
    await putGrants(trx, share, before.grants, grants);
    return { frontendIds, grants };
  }
  if (grants.length > 0) throw invalidValue('grants', 'an empty array: only a private share has grants');
  const frontends =
    frontendIds.length > 0
      ? await checkedFrontends(trx, without(frontendIds, before.frontendIds))
      : [await defaultFrontend(trx)];
  const ids = frontendIds.length > 0 ? frontendIds : frontends.map(({ id }) => id);
  const added = frontends.filter(({ id }) => !before.frontendIds.includes(id));
  await leaveFrontends(trx, share, without(before.frontendIds, ids), nowMs);
  await putGrants(trx, share, before.grants, grants);
  await joinFrontends(trx, share, added, nowMs);
  return { frontendIds: ids, grants };
}

/** Stores which providers of the share's frontdoor let clients in, in this order, and returns their ids. */
export async function putAuthProviders(
  trx: Queries,
  share: Pick<ShareRecord, 'id' | 'frontdoorId'>,
  before: readonly string[],
  wanted: readonly string[],
): Promise<readonly string[]> {
  const ids = [...new Set(wanted.map((id) => id.toLowerCase()))];
  const moved = before.filter((id, position) => ids[position] !== id);
  const placed = ids.filter((id, position) => before[position] !== id);
  if (moved.length > 0)
    await trx
      .deleteFrom('share_auth_provider')
      .where('share_id', '=', share.id)
      .where('auth_provider_id', 'in', moved)
      .execute();
  if (placed.length === 0) return ids;
  const positions = placed.map((id) => sql`when ${id} then cast(${ids.indexOf(id)} as integer)`);
  const rows = await trx
    .insertInto('share_auth_provider')
    .columns(['share_id', 'auth_provider_id', 'position'])
    .expression(
      trx
        .selectFrom('auth_provider')
        .select(sql<string>`cast(${share.id} as text)`.as('share_id'))
        .select('id as auth_provider_id')
        .select(sql<number>`case id ${sql.join(positions, sql` `)} end`.as('position'))
        .where('id', 'in', placed)
        .where('frontdoor_id', '=', share.frontdoorId),
    )
    .returning('auth_provider_id')
    .execute();
  const found = new Set([...before, ...rows.map((row) => row.auth_provider_id)]);
  for (const id of wanted) if (!found.has(id.toLowerCase())) throw missing('Auth provider', id);
  return ids;
}

/** A conflict: another share has the name, or it rests. */
export function nameTaken(token: string): FrontdoorError {
  return new FrontdoorError('conflict', 'conflict', `Share ${token} already exists`);
}

export function missing(what: string, id: string): FrontdoorError {
  return new FrontdoorError('notFound', 'not-found', `${what} ${id} not found`);
}

/** Environments of the frontdoor with these ids. */
export function environmentsOf(trx: Queries, frontdoorId: string, ids: readonly string[]) {
  return trx
    .selectFrom('identity')
    .where('id', 'in', ids)
    .where('kind', '=', 'environment')
    .where('frontdoor_id', '=', frontdoorId);
}

interface Frontend {
  readonly id: string;
  readonly zone: string;
}

async function checkedFrontends(trx: Queries, ids: readonly string[]): Promise<readonly Frontend[]> {
  if (ids.length === 0) return [];
  const rows = await trx.selectFrom('frontend').select(['id', 'zone']).where('id', 'in', ids).execute();
  const found = new Set(rows.map((row) => row.id));
  for (const id of ids) if (!found.has(id)) throw missing('Frontend', id);
  return rows;
}

async function defaultFrontend(trx: Queries): Promise<Frontend> {
  const row = await trx
    .selectFrom('frontend')
    .select(['id', 'zone'])
    .where('is_default', '=', 1)
    .orderBy('id')
    .executeTakeFirst();
  if (row === undefined) throw new FrontdoorError('conflict', 'no-frontend', 'There is no default frontend');
  return row;
}

/** Its names on these frontends rest from now on. */
async function leaveFrontends(
  trx: Queries,
  { id }: ReachedShare,
  frontendIds: readonly string[],
  nowMs: number,
): Promise<void> {
  if (frontendIds.length === 0) return;
  await restShareNames(trx, { column: 'share.id', id }, nowMs, frontendIds);
  await trx
    .deleteFrom('share_frontend')
    .where('share_id', '=', id)
    .where('frontend_id', 'in', frontendIds)
    .execute();
}

async function joinFrontends(
  trx: Queries,
  { id, token, frontdoorId }: ReachedShare,
  frontends: readonly Frontend[],
  nowMs: number,
): Promise<void> {
  if (frontends.length === 0) return;
  const rows = frontends.map((frontend) => ({ share_id: id, frontend_id: frontend.id, token }));
  await trx
    .insertInto('share_frontend')
    .values(rows)
    .execute()
    .catch((error: unknown) => {
      throw isUniqueViolation(error) ? nameTaken(token) : error;
    });
  const names = frontends.map(({ zone }) => `${token}.${zone.toLowerCase()}`);
  if (!(await claimNames(trx, frontdoorId, names, nowMs))) throw nameTaken(token);
}

async function putGrants(
  trx: Queries,
  { id, frontdoorId }: ReachedShare,
  before: readonly string[],
  wanted: readonly string[],
): Promise<void> {
  const removed = without(before, wanted);
  const added = without(wanted, before);
  if (removed.length > 0)
    await trx
      .deleteFrom('share_grant')
      .where('share_id', '=', id)
      .where('environment_id', 'in', removed)
      .execute();
  if (added.length === 0) return;
  const rows = await trx
    .insertInto('share_grant')
    .columns(['share_id', 'environment_id'])
    .expression(
      environmentsOf(trx, frontdoorId, added)
        .select(sql<string>`cast(${id} as text)`.as('share_id'))
        .select('id as environment_id'),
    )
    .returning('environment_id')
    .execute();
  const found = new Set(rows.map((row) => row.environment_id));
  for (const each of added) if (!found.has(each)) throw missing('Environment', each);
}

function without(ids: readonly string[], others: readonly string[]): readonly string[] {
  const left = new Set(others);
  return ids.filter((id) => !left.has(id));
}
