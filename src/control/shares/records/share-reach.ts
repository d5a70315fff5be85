/**
 * The access of parties to a share: gateways of its frontends when it is public, granted environments when it is
 * private, and callers that its auth providers admit. A change checks and inserts only what it adds, and deletes only
 * what it takes away: foreign keys hold what stays. Errors: `conflict`, `notFound` and `invalid`, with messages that
 * may be shown.
 */
import { sql } from 'kysely';
import { FrontdoorError } from '#base';
import { invalidValue, type Share } from '#domain';
import { type Write, isUniqueViolation, type Queries } from '../../store/mod.ts';
import { environmentsOf, findEdgeEntities, mayTunnelFor } from '../../overlay/records/mod.ts';
import { claimNames, restingOfShareNames } from './resting-name-store.ts';
import type { AgedFrontend, ShareRelations } from './share-relations.ts';

export interface WantedReach {
  /** Undefined or empty: a public share takes the default frontend. */
  readonly frontendIds?: readonly string[] | undefined;
  readonly grants?: readonly string[] | undefined;
  readonly authProviderIds?: readonly string[] | undefined;
}

/** Each id once. */
export interface ShareReach {
  /** Empty: a public share takes the default frontend. */
  readonly frontendIds: readonly string[];
  readonly grants: readonly string[];
  readonly authProviderIds: readonly string[];
}

type ReachedShare = Pick<Share, 'id' | 'token' | 'frontdoorId' | 'shareMode'>;

/** Throws `invalid` for frontends of a private share, and for grants of a public one. */
export function checkedReach(shareMode: Share['shareMode'], wanted: WantedReach): ShareReach {
  const frontendIds = [...new Set(wanted.frontendIds)];
  const grants = [...new Set(wanted.grants)];
  if (shareMode === 'private' && frontendIds.length > 0)
    throw invalidValue('frontendIds', 'an empty array: a private share has no frontend');
  if (shareMode === 'public' && grants.length > 0)
    throw invalidValue('grants', 'an empty array: only a private share has grants');
  return {
    frontendIds,
    grants,
    authProviderIds: [...new Set(wanted.authProviderIds?.map((id) => id.toLowerCase()))],
  };
}

/** Adds a share to the frontends that it lacks. Returns those that it keeps and those that are new, by their age. */
export async function joinFrontends(
  trx: Queries,
  { id, token, shareMode }: ReachedShare,
  before: readonly AgedFrontend[],
  wantedIds: readonly string[],
): Promise<readonly AgedFrontend[]> {
  if (shareMode === 'private') return [];
  const isDefault = wantedIds.length === 0;
  const kept = before.filter((frontend) => wantedIds.includes(frontend.id));
  const addedIds = without(wantedIds, idsOf(kept));
  if (!isDefault && addedIds.length === 0) return kept;
  const all = trx
    .selectFrom('frontend')
    .select(sql<string>`cast(${id} as text)`.as('share_id'))
    .select('id as frontend_id')
    .select(sql<string>`cast(${token} as text)`.as('token'));
  const rows = await trx
    .insertInto('share_frontend')
    .columns(['share_id', 'frontend_id', 'token'])
    .expression(
      isDefault ? all.where('is_default', '=', 1).orderBy('id').limit(1) : all.where('id', 'in', addedIds),
    )
    // The default frontend may be one that the share has. This returns its row, too.
    .onConflict((conflict) => conflict.columns(['share_id', 'frontend_id']).doUpdateSet({ token }))
    .returning((row) => [
      'frontend_id as id',
      row.selectFrom('frontend').select('zone').whereRef('id', '=', 'frontend_id').as('zone'),
      row.selectFrom('frontend').select('created_at').whereRef('id', '=', 'frontend_id').as('created_at'),
    ])
    .execute()
    .catch((error: unknown) => {
      throw isUniqueViolation(error) ? nameTaken(token) : error;
    });
  if (isDefault && rows.length === 0)
    throw new FrontdoorError('conflict', 'no-frontend', 'There is no default frontend');
  const found = new Set(idsOf(rows));
  for (const each of addedIds) if (!found.has(each)) throw missing('Frontend', each);
  const added = rows.map((row) => ({ id: row.id, zone: row.zone!, createdAtMs: row.created_at! }));
  return [...kept, ...added].sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
}

/** The writes that take away what a share no longer has. Its names on frontends that it leaves rest from now on. */
export function partingWrites(
  trx: Queries,
  { id }: ReachedShare,
  before: ShareRelations,
  after: ShareReach,
  nowMs: number,
): readonly Write<unknown>[] {
  const frontendIds = without(idsOf(before.frontends), after.frontendIds);
  const grants = without(before.grants, after.grants);
  const providerIds = without(before.authProviderIds, after.authProviderIds);
  const writes: Write<unknown>[] = [];
  if (frontendIds.length > 0) {
    const left = trx.deleteFrom('share_frontend').where('share_id', '=', id);
    writes.push(restingOfShareNames(trx, { column: 'share.id', id }, nowMs, frontendIds));
    writes.push(left.where('frontend_id', 'in', frontendIds));
  }
  if (grants.length > 0) {
    const left = trx.deleteFrom('share_grant').where('share_id', '=', id);
    writes.push(left.where('environment_id', 'in', grants));
  }
  if (providerIds.length > 0) {
    const left = trx.deleteFrom('share_auth_provider').where('share_id', '=', id);
    writes.push(left.where('auth_provider_id', 'in', providerIds));
  }
  return writes;
}

/** Claims the names of a share on frontends that are new. Called when the names that it gives up rest. */
export async function claimShareNames(
  trx: Queries,
  { token, frontdoorId }: ReachedShare,
  before: readonly AgedFrontend[],
  after: readonly AgedFrontend[],
  nowMs: number,
): Promise<void> {
  const had = new Set(idsOf(before));
  const names = after.filter(({ id }) => !had.has(id)).map(({ zone }) => `${token}.${zone.toLowerCase()}`);
  if (!(await claimNames(trx, frontdoorId, names, nowMs))) throw nameTaken(token);
}

export async function addGrants(
  trx: Queries,
  { id, frontdoorId }: ReachedShare,
  before: readonly string[],
  wanted: readonly string[],
): Promise<void> {
  const added = without(wanted, before);
  if (added.length === 0) return;
  const rows = await trx
    .insertInto('share_grant')
    .columns(['share_id', 'environment_id'])
    .expression(
      environmentsOf(trx, frontdoorId)
        .where('id', 'in', added)
        .select(sql<string>`cast(${id} as text)`.as('share_id'))
        .select('id as environment_id'),
    )
    .returning('environment_id')
    .execute();
  const found = new Set(rows.map((row) => row.environment_id));
  const others = added.filter((each) => !found.has(each));
  if (others.length === 0) return;
  const routers = (await findEdgeEntities(trx, others)).filter((each) => mayTunnelFor(each, frontdoorId));
  const known = new Set(idsOf(routers));
  for (const each of others) if (!known.has(each)) throw missing('Environment', each);
  const granted = others.map((each) => ({ share_id: id, environment_id: each }));
  await trx.insertInto('share_grant').values(granted).execute();
}

/**
 * Adds the auth providers that are new, and moves those whose position differs. `given` has the ids in the case that
 * the caller wrote, for the error.
 */
export async function placeAuthProviders(
  trx: Queries,
  { id, frontdoorId }: ReachedShare,
  before: readonly string[],
  wanted: readonly string[],
  given: readonly string[] = [],
): Promise<void> {
  const placed = wanted.filter((each, position) => before[position] !== each);
  if (placed.length === 0) return;
  const positions = placed.map((each) => sql`when ${each} then cast(${wanted.indexOf(each)} as integer)`);
  const rows = await trx
    .insertInto('share_auth_provider')
    .columns(['share_id', 'auth_provider_id', 'position'])
    .expression(
      trx
        .selectFrom('auth_provider')
        .select(sql<string>`cast(${id} as text)`.as('share_id'))
        .select('id as auth_provider_id')
        .select(sql<number>`case id ${sql.join(positions, sql` `)} end`.as('position'))
        .where('id', 'in', placed)
        .where('frontdoor_id', '=', frontdoorId),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['share_id', 'auth_provider_id'])
        .doUpdateSet((row) => ({ position: row.ref('excluded.position') })),
    )
    .returning('auth_provider_id')
    .execute();
  const found = new Set(rows.map((row) => row.auth_provider_id));
  const lost = placed.find((each) => !found.has(each));
  if (lost !== undefined)
    throw missing('Auth provider', given.find((each) => each.toLowerCase() === lost) ?? lost);
}

/** A conflict: another share has the name, or it rests. */
export function nameTaken(token: string): FrontdoorError {
  return new FrontdoorError('conflict', 'conflict', `Share ${token} already exists`);
}

export function missing(what: string, id: string): FrontdoorError {
  return new FrontdoorError('notFound', 'not-found', `${what} ${id} not found`);
}

function idsOf(of: readonly { readonly id: string }[]): readonly string[] {
  return of.map(({ id }) => id);
}

function without(ids: readonly string[], others: readonly string[]): readonly string[] {
  const left = new Set(others);
  return ids.filter((id) => !left.has(id));
}
