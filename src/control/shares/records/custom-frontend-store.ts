/**
 * Custom frontends of a granted frontdoor: zones of the owner below which the public shares of a frontend are
 * served too, once their hostname is proven (`hostname-proof-store.ts`). Each is a claim of a hostname, as the domains of
 * shares are (`share-domain-store.ts`).
 */
import { randomUUID } from 'node:crypto';
import { sql, type Selectable } from 'kysely';
import { FrontdoorError } from '#base';
import {
  countedPage,
  narrowed,
  type ListFilter,
  type Page,
  type PageRequest,
  lockedForUpdate,
  type HostnameProof,
  type HostnameClaimTable,
  type Queries,
  type Touch,
} from '../../store/mod.ts';
import type { GrantedFrontdoor } from './frontdoor-store.ts';
import { checkFreeHostname } from './hostname-freedom.ts';
import { restHostnames } from './resting-name-store.ts';

export interface CustomFrontendRecord {
  readonly id: string;
  readonly frontdoorId: string;
  /** In lower case. */
  readonly hostname: string;
  readonly frontendId: string;
  readonly authProviderIds: readonly string[];
  readonly status: HostnameClaimTable['status'];
  /** PENDING is not served. */
  readonly proof: HostnameProof;
  /** The DNS name of the record that proved it; null if none did. */
  readonly proofName: string | null;
  readonly proofEndsAtMs: number | null;
  readonly proofProblem: string | null;
  readonly createdAtMs: number;
}

export const CUSTOM_FRONTEND_SORT_FIELDS = ['hostname', 'id'] as const;

export async function listCustomFrontends(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  request: PageRequest,
  filter: ListFilter,
): Promise<Page<CustomFrontendRecord>> {
  const { status, providerId } = filter;
  let query = narrowed(rowsOf(db, frontdoor), filter, { name: 'hostname' }).select(
    sql<string>`hostname`.as('name'),
  );
  if (status !== undefined) query = query.where(sql<boolean>`status = ${status}`);
  if (providerId !== undefined)
    query = query.where(sql<boolean>`exists (select 1 from custom_frontend_auth_provider as guard
      where guard.custom_frontend_id = hostname_claim.id and guard.auth_provider_id = ${providerId})`);
  const sort = request.sort === 'hostname' ? 'name' : request.sort;
  const { content, total } = await countedPage(query, { ...request, sort });
  return { content: await recordsOf(db, content), total };
}

export async function findCustomFrontend(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  id: string,
): Promise<CustomFrontendRecord | undefined> {
  const [record] = await recordsOf(
    db,
    await rowsOf(db, frontdoor).where('id', '=', id.toLowerCase()).execute(),
  );
  return record;
}

export interface NewCustomFrontend {
  /** A DNS name in any case. */
  readonly hostname: string;
  readonly frontendId: string;
  readonly authProviderIds: readonly string[];
  readonly nowMs: number;
  /** When the claim ends unless it is proven. */
  readonly claimEndsAtMs: number;
}

/** Throws `conflict` for a taken name, `notFound` for a missing frontend or provider. */
export async function insertCustomFrontend(
  trx: Queries,
  touch: Touch,
  frontdoor: GrantedFrontdoor,
  wanted: NewCustomFrontend,
): Promise<CustomFrontendRecord> {
  const hostname = wanted.hostname.toLowerCase();
  await checkFreeHostname(trx, { frontdoor, hostname, shareId: null }, wanted.nowMs);
  const frontend = await trx
    .selectFrom('frontend')
    .select('id')
    .where('id', '=', wanted.frontendId)
    .executeTakeFirst();
  if (frontend === undefined) throw missing('Frontend', wanted.frontendId);
  const authProviderIds = await checkedProviders(trx, frontdoor, wanted.authProviderIds);
  const id = randomUUID();
  await trx
    .insertInto('hostname_claim')
    .values({
      id,
      frontdoor_id: frontdoor.id,
      hostname,
      frontend_id: wanted.frontendId,
      status: 'NEW',
      proof: 'PENDING',
      proof_ends_at: wanted.claimEndsAtMs,
      proof_due_at: wanted.nowMs,
      created_at: wanted.nowMs,
    })
    .execute();
  await insertProviders(trx, id, authProviderIds);
  touch('custom-frontend', id);
  return (await findCustomFrontend(trx, frontdoor, id))!;
}

/** Returns the custom frontend, locked until the transaction ends. */
export async function lockCustomFrontend(
  trx: Queries,
  frontdoor: GrantedFrontdoor,
  id: string,
): Promise<CustomFrontendRecord | undefined> {
  await lockedForUpdate(trx, rowsOf(trx, frontdoor).where('id', '=', id.toLowerCase())).execute();
  return findCustomFrontend(trx, frontdoor, id);
}

/** Replaces the providers of a locked custom frontend. Throws `notFound` for a missing one. */
export async function changeCustomFrontend(
  trx: Queries,
  touch: Touch,
  frontdoor: GrantedFrontdoor,
  before: CustomFrontendRecord,
  given: readonly string[],
): Promise<CustomFrontendRecord> {
  const authProviderIds = await checkedProviders(trx, frontdoor, given);
  await trx.deleteFrom('custom_frontend_auth_provider').where('custom_frontend_id', '=', before.id).execute();
  await insertProviders(trx, before.id, authProviderIds);
  await touchCustomFrontend(trx, touch, before);
  return { ...before, authProviderIds };
}

/** Deletes it; its hostname rests. Returns undefined if there is none with this id. */
export async function deleteCustomFrontend(
  trx: Queries,
  touch: Touch,
  frontdoor: GrantedFrontdoor,
  id: string,
  nowMs: number,
): Promise<CustomFrontendRecord | undefined> {
  const before = await lockCustomFrontend(trx, frontdoor, id);
  if (before === undefined) return undefined;
  await restHostnames(trx, frontdoor.id, nowMs, { id: before.id, kind: 'custom-frontend' });
  await trx.deleteFrom('hostname_claim').where('id', '=', before.id).execute();
  await touchCustomFrontend(trx, touch, before);
  return before;
}

/** Returns the first `limit` custom frontends that use a provider, by hostname. */
export async function listFrontendsUsing(
  db: Queries,
  providerId: string,
  limit: number,
): Promise<{ readonly id: string; readonly hostname: string }[]> {
  return db
    .selectFrom('custom_frontend_auth_provider')
    .innerJoin('hostname_claim', 'hostname_claim.id', 'custom_frontend_auth_provider.custom_frontend_id')
    .select(['hostname_claim.id', 'hostname_claim.hostname'])
    .where('custom_frontend_auth_provider.auth_provider_id', '=', providerId)
    .orderBy('hostname_claim.hostname')
    .limit(limit)
    .execute();
}

/** Returns the zone in which a custom frontend's names are aliases. */
export async function zoneOf(db: Queries, { frontendId }: CustomFrontendRecord): Promise<string> {
  const { zone } = await db
    .selectFrom('frontend')
    .select('zone')
    .where('id', '=', frontendId)
    .executeTakeFirstOrThrow();
  return zone;
}

async function insertProviders(trx: Queries, id: string, authProviderIds: readonly string[]): Promise<void> {
  if (authProviderIds.length === 0) return;
  const rows = authProviderIds.map((auth_provider_id, position) => ({
    custom_frontend_id: id,
    auth_provider_id,
    position,
  }));
  await trx.insertInto('custom_frontend_auth_provider').values(rows).execute();
}

/** The names of the shares change, so they are read again, and the zones. */
export async function touchCustomFrontend(
  trx: Queries,
  touch: Touch,
  { id, frontdoorId, frontendId }: Pick<CustomFrontendRecord, 'id' | 'frontdoorId' | 'frontendId'>,
): Promise<void> {
  touch('custom-frontend', id);
  const shares = await trx
    .selectFrom('share_frontend')
    .innerJoin('share', 'share.id', 'share_frontend.share_id')
    .select('share.id')
    .where('share.frontdoor_id', '=', frontdoorId)
    .where('share_frontend.frontend_id', '=', frontendId)
    .execute();
  for (const share of shares) touch('share', share.id);
}

function rowsOf(db: Queries, frontdoor: GrantedFrontdoor) {
  return db
    .selectFrom('hostname_claim')
    .selectAll()
    .where('frontdoor_id', '=', frontdoor.id)
    .where('share_id', 'is', null);
}

async function recordsOf(
  db: Queries,
  rows: readonly Selectable<HostnameClaimTable>[],
): Promise<CustomFrontendRecord[]> {
  if (rows.length === 0) return [];
  const links = await db
    .selectFrom('custom_frontend_auth_provider')
    .selectAll()
    .where(
      'custom_frontend_id',
      'in',
      rows.map(({ id }) => id),
    )
    .orderBy('position')
    .execute();
  const providersOf = Map.groupBy(links, (link) => link.custom_frontend_id);
  return rows.map((row) => ({
    id: row.id,
    frontdoorId: row.frontdoor_id,
    hostname: row.hostname,
    // The domains of shares alone have none.
    frontendId: row.frontend_id!,
    authProviderIds: (providersOf.get(row.id) ?? []).map((link) => link.auth_provider_id),
    status: row.status,
    proof: row.proof,
    proofName: row.proof_name,
    proofEndsAtMs: row.proof_ends_at,
    proofProblem: row.proof_problem,
    createdAtMs: row.created_at,
  }));
}

async function checkedProviders(
  trx: Queries,
  frontdoor: GrantedFrontdoor,
  given: readonly string[],
): Promise<readonly string[]> {
  const ids = [...new Set(given.map((id) => id.toLowerCase()))];
  if (ids.length === 0) return ids;
  const rows = await trx
    .selectFrom('auth_provider')
    .select('id')
    .where('id', 'in', ids)
    .where('frontdoor_id', '=', frontdoor.id)
    .execute();
  const found = new Set(rows.map((row) => row.id));
  for (const id of given) if (!found.has(id.toLowerCase())) throw missing('Auth provider', id);
  return ids;
}

function missing(what: string, id: string): FrontdoorError {
  return new FrontdoorError('notFound', 'not-found', `${what} ${id} not found`);
}
