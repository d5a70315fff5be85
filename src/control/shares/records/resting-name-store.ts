/**
 * Names that shares and custom frontends gave up, domains among them. For 30 days only the organization that had a name may take it
 * again, so that nobody else receives the requests, with credentials, of clients that still use it. Names begin
 * to rest inside the transaction that gives them up. They are claimed inside the transaction that takes them,
 * after its own row was inserted, so that it waits for a concurrent transaction that gives the name up.
 */
import { sql, type Expression, type SelectQueryBuilder } from 'kysely';
import {
  countedPage,
  type Page,
  type PageRequest,
  type Database,
  type RestingNameTable,
  type Queries,
} from '../../store/mod.ts';

export const NAME_REST_MS = 30 * 86_400_000;

/** Limit per organization, which bounds the storage of one caller. Beyond it, the oldest names are released. */
export const MAX_RESTING_NAMES = 100_000;

export interface RestingName {
  /** A DNS name in lower case: `<token>.<zone>` of a share, its domain, or the hostname of a custom frontend. Or `tcp:<port>`, `udp:<port>`. */
  readonly name: string;
  readonly kind: RestingNameTable['kind'];
  /** The only organization that may take it, which may have been deleted. */
  readonly organizationId: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** The shares that give up their names: those of one row, or all of an environment or a frontdoor. */
export type SharesGivenUp = {
  readonly column: 'share.id' | 'share.environment_id' | 'share.frontdoor_id';
  readonly id: string;
};

/** Begins the rest of these shares' names on frontends, of their domains, and of their ports. Called while the shares still exist. */
export async function restShareNames(trx: Queries, shares: SharesGivenUp, nowMs: number): Promise<void> {
  await restingOfShareNames(trx, shares, nowMs).execute();
}

/** The statement that does so, to run jointly with the one that gives the names up. */
export function restingOfShareNames(
  trx: Queries,
  { column, id }: SharesGivenUp,
  nowMs: number,
  /** Undefined: on all of their frontends, and their domains. */
  frontendIds?: readonly string[],
) {
  const names = trx
    .selectFrom('share_frontend')
    .innerJoin('share', 'share.id', 'share_frontend.share_id')
    .innerJoin('frontend', 'frontend.id', 'share_frontend.frontend_id')
    .innerJoin('frontdoor', 'frontdoor.id', 'share.frontdoor_id')
    .select(sql<string>`share_frontend.token || '.' || lower(frontend.zone)`.as('name'))
    .select(restColumns('share', nowMs))
    .where(column, '=', id);
  if (frontendIds !== undefined)
    return insertionOfRests(trx, names.where('share_frontend.frontend_id', 'in', frontendIds));
  const domains = trx
    .selectFrom('hostname_claim')
    .innerJoin('share', 'share.id', 'hostname_claim.share_id')
    .innerJoin('frontdoor', 'frontdoor.id', 'share.frontdoor_id')
    .select('hostname_claim.hostname as name')
    .select(restColumns('share-domain', nowMs))
    .where(column, '=', id)
    .where('hostname_claim.proof', '!=', 'PENDING');
  return insertionOfRests(trx, names.unionAll(domains).unionAll(portsOf(trx, { column, id }, nowMs)));
}

/** Begins the rest of the ports of these shares. Called while they still have them. */
export async function restSharePorts(trx: Queries, shares: SharesGivenUp, nowMs: number): Promise<void> {
  await insertionOfRests(trx, portsOf(trx, shares, nowMs)).execute();
}

/** The name of a port among those that rest. */
export function portName(protocol: 'tcp' | 'udp', port: number): string {
  return `${protocol}:${port}`;
}

function portsOf(trx: Queries, { column, id }: SharesGivenUp, nowMs: number) {
  return trx
    .selectFrom('share')
    .innerJoin('frontdoor', 'frontdoor.id', 'share.frontdoor_id')
    .select(
      sql<string>`case share.backend_mode when 'udpTunnel' then 'udp:' else 'tcp:' end
      || cast(share.ingress_port as text)`.as('name'),
    )
    .select(restColumns('share', nowMs))
    .where(column, '=', id)
    .where('share.ingress_port', 'is not', null);
}

/**
 * Begins the rest of one claimed hostname, or of those of all custom frontends of the frontdoor, unless they were mere claims.
 * Called while they still exist.
 */
export async function restHostnames(
  trx: Queries,
  frontdoorId: string,
  nowMs: number,
  claim?: { readonly id: string; readonly kind: 'custom-frontend' | 'share-domain' },
): Promise<void> {
  let names = trx
    .selectFrom('hostname_claim')
    .innerJoin('frontdoor', 'frontdoor.id', 'hostname_claim.frontdoor_id')
    .select('hostname_claim.hostname as name')
    .select(restColumns(claim?.kind ?? 'custom-frontend', nowMs))
    .where('hostname_claim.frontdoor_id', '=', frontdoorId)
    .where('hostname_claim.proof', '!=', 'PENDING');
  names =
    claim === undefined
      ? names.where('hostname_claim.share_id', 'is', null)
      : names.where('hostname_claim.id', '=', claim.id);
  await insertionOfRests(trx, names).execute();
}

/**
 * Ends the rest of these names. Returns false if one of them rests for another organization than the frontdoor's: then
 * the caller has to roll back, because its rest has ended, too. Called after the rows that take the names were inserted.
 */
export async function claimNames(
  trx: Queries,
  frontdoorId: string,
  names: readonly string[],
  nowMs: number,
): Promise<boolean> {
  if (names.length === 0) return true;
  const rests = await trx
    .deleteFrom('resting_name')
    .where('name', 'in', names)
    .returning(['organization_id', 'expires_at'])
    .returning(organizationOf(trx, frontdoorId).as('claimant'))
    .execute();
  return !rests.some((rest) => rest.organization_id !== rest.claimant && rest.expires_at > nowMs);
}

/** Ends the rest of a name, unless it rests for another organization than the frontdoor's. */
export async function endOwnRest(
  trx: Queries,
  frontdoorId: string,
  name: string,
  nowMs: number,
): Promise<void> {
  await trx
    .deleteFrom('resting_name')
    .where('name', '=', name)
    .where((where) =>
      where.or([
        where('expires_at', '<=', nowMs),
        where('organization_id', '=', organizationOf(trx, frontdoorId)),
      ]),
    )
    .execute();
}

function organizationOf(trx: Queries, frontdoorId: string) {
  return trx.selectFrom('frontdoor').select('organization_id').where('id', '=', frontdoorId);
}

/** Whether a hostname, or one above or below it, rests for another organization. */
export async function restsForAnother(
  trx: Queries,
  organizationId: string,
  { hostname, above }: { readonly hostname: string; readonly above: readonly string[] },
  nowMs: number,
): Promise<boolean> {
  const row = await trx
    .selectFrom('resting_name')
    .select('name')
    .where('kind', '!=', 'share')
    .where((where) => where.or([where('name', 'in', above), where('name', 'like', `%.${hostname}`)]))
    .where('organization_id', '!=', organizationId)
    .where('expires_at', '>', nowMs)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

export async function listRestingNames(
  db: Queries,
  request: PageRequest,
  organizationId: string | undefined,
  nowMs: number,
): Promise<Page<RestingName>> {
  let query = db.selectFrom('resting_name').selectAll().select('name as id').where('expires_at', '>', nowMs);
  if (organizationId !== undefined) query = query.where('organization_id', '=', organizationId.toLowerCase());
  const { content, total } = await countedPage(query, request);
  return { content: content.map(recordOf), total };
}

/** Releases the name, so that every organization may take it. Returns undefined if it does not rest. */
export async function releaseRestingName(
  trx: Queries,
  name: string,
  nowMs: number,
): Promise<RestingName | undefined> {
  const row = await trx
    .deleteFrom('resting_name')
    .where('name', '=', name.toLowerCase())
    .where('expires_at', '>', nowMs)
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? undefined : recordOf(row);
}

/** Deletes at most `most` and returns their number. */
export function deleteExpiredNames(db: Queries, nowMs: number, most: number): Promise<number> {
  return deleteSome(db, db.selectFrom('resting_name').where('expires_at', '<=', nowMs), most);
}

/** Returns organizations with more resting names than the limit, and their numbers. */
export async function organizationsOverLimit(
  db: Queries,
  limit: number,
): Promise<readonly { readonly organizationId: string; readonly surplus: number }[]> {
  const rows = await db
    .selectFrom('resting_name')
    .select(['organization_id', sql<number>`count(*)`.as('total')])
    .groupBy('organization_id')
    .having(sql`count(*)`, '>', limit)
    .execute();
  return rows.map((row) => ({ organizationId: row.organization_id, surplus: Number(row.total) - limit }));
}

/** Deletes at most `most` and returns their number. */
export function deleteOldestNames(db: Queries, organizationId: string, most: number): Promise<number> {
  const names = db
    .selectFrom('resting_name')
    .where('organization_id', '=', organizationId)
    .orderBy('created_at');
  return deleteSome(db, names, most);
}

async function deleteSome(
  db: Queries,
  names: SelectQueryBuilder<Database, 'resting_name', object>,
  most: number,
): Promise<number> {
  const removed = await db
    .deleteFrom('resting_name')
    .where('name', 'in', names.select('name').limit(most))
    .executeTakeFirst();
  return Number(removed.numDeletedRows);
}

function restColumns(kind: RestingNameTable['kind'], nowMs: number) {
  return [
    sql<RestingNameTable['kind']>`cast(${kind} as text)`.as('kind'),
    'frontdoor.organization_id' as const,
    sql<number>`cast(${nowMs} as bigint)`.as('created_at'),
    sql<number>`cast(${nowMs + NAME_REST_MS} as bigint)`.as('expires_at'),
  ];
}

function insertionOfRests(trx: Queries, names: Expression<RestingNameTable>) {
  return (
    trx
      .insertInto('resting_name')
      .columns(['name', 'kind', 'organization_id', 'created_at', 'expires_at'])
      .expression(names)
      // Left from an earlier rest that ended and was not removed yet.
      .onConflict((conflict) =>
        conflict.column('name').doUpdateSet((row) => ({
          kind: row.ref('excluded.kind'),
          organization_id: row.ref('excluded.organization_id'),
          created_at: row.ref('excluded.created_at'),
          expires_at: row.ref('excluded.expires_at'),
        })),
      )
  );
}

function recordOf(row: RestingNameTable): RestingName {
  return {
    name: row.name,
    kind: row.kind,
    organizationId: row.organization_id,
    createdAtMs: row.created_at,
    expiresAtMs: row.expires_at,
  };
}
