/**
 * Shares together with what belongs to them, in one statement: their frontends, grants, auth providers and domains, and
 * the custom frontends of their frontdoors.
 */
import { sql, type Expression } from 'kysely';
import type { ShareTable, Queries } from '../../store/mod.ts';
import type { CustomZone } from './custom-host.ts';

export interface AgedFrontend {
  readonly id: string;
  /** As it was configured, in any case. */
  readonly zone: string;
  readonly createdAtMs: number;
}

export interface ShareRelations {
  /** By their age. */
  readonly frontends: readonly AgedFrontend[];
  /** In their order. */
  readonly authProviderIds: readonly string[];
  /** Environments, by id. */
  readonly grants: readonly string[];
  /** All custom frontends of the frontdoor that are served, by their age. */
  readonly customZones: readonly CustomZone[];
  /** The domains of the share that are served, by their age. */
  readonly domains: readonly string[];
}

export interface RelatedShare<Row> {
  readonly row: Row;
  readonly relations: ShareRelations;
}

type ShareKey = Pick<ShareTable, 'id' | 'frontdoor_id'>;

/** Runs a query of shares, which selects all of their columns. Returns them ordered by id. */
export async function relatedShares<Row extends ShareTable>(
  db: Queries,
  shares: Expression<Row>,
): Promise<RelatedShare<Row>[]> {
  const found = await sql<Relation & Row>`
    with some_share as ${shares},
      relation as (
        select id as owner, 'share' as relation, id as ref, '' as zone, null as frontend_ref, null as provider_ref,
          0 as place, 0 as nth
        from some_share
        union all ${relations})
    select relation.*, some_share.*
    from relation left join some_share on relation.relation = 'share' and some_share.id = relation.owner
    order by place, ref, nth`.execute(db);
  const rows = found.rows.filter(({ relation }) => relation === 'share');
  return withRelations(rows, found.rows);
}

/** Reads the relations of shares that were read already, and returns the rows in their order. */
export async function relationsOf<Row extends ShareKey>(
  db: Queries,
  rows: readonly Row[],
): Promise<RelatedShare<Row>[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const shares = db.selectFrom('share').select(['id', 'frontdoor_id']).where('id', 'in', ids);
  const found = await sql<Relation>`
    with some_share as ${shares} ${relations} order by place, ref, nth`.execute(db);
  return withRelations(rows, found.rows);
}

interface Relation {
  /** The id of the share; of a custom frontend, its frontdoor. */
  readonly owner: string;
  readonly relation: 'share' | 'frontend' | 'grant' | 'provider' | 'custom' | 'domain';
  /** The id of the frontend, of the environment that may dial, of the auth provider, or of the hostname's claim. */
  readonly ref: string;
  /** The zone of a frontend, the hostname of a custom one, or the domain. */
  readonly zone: string;
  readonly frontend_ref: string | null;
  readonly provider_ref: string | null;
  readonly place: number;
}

/** A custom frontend has a row for each of its auth providers, or one without. */
const relations = sql`
  select share_id as owner, 'frontend' as relation, frontend.id as ref, frontend.zone as zone, null as frontend_ref,
    null as provider_ref, frontend.created_at as place, 0 as nth
  from share_frontend inner join frontend on frontend.id = share_frontend.frontend_id
  where share_id in (select id from some_share)
  union all
  select share_id, 'grant', environment_id, '', null, null, 0, 0
  from share_grant where share_id in (select id from some_share)
  union all
  select share_id, 'provider', auth_provider_id, '', null, null, share_auth_provider.position, 0
  from share_auth_provider where share_id in (select id from some_share)
  union all
  select frontdoor_id, 'custom', hostname_claim.id, hostname, frontend_id, guard.auth_provider_id,
    hostname_claim.created_at, guard.position
  from hostname_claim
    left join custom_frontend_auth_provider as guard on guard.custom_frontend_id = hostname_claim.id
  where frontdoor_id in (select frontdoor_id from some_share) and share_id is null and proof <> 'PENDING'
  union all
  select share_id, 'domain', id, hostname, null, null, created_at, 0
  from hostname_claim where share_id in (select id from some_share) and proof <> 'PENDING'`;

function withRelations<Row extends ShareKey>(
  rows: readonly Row[],
  found: readonly Relation[],
): RelatedShare<Row>[] {
  const byOwner = Map.groupBy(found, ({ owner }) => owner);
  const customZones = new Map<string, readonly CustomZone[]>();
  return rows.map((row) => {
    const own = byOwner.get(row.id) ?? [];
    const refsOf = (kind: Relation['relation']) =>
      own.flatMap((each) => (each.relation === kind ? each.ref : []));
    const frontends = own.filter(({ relation }) => relation === 'frontend');
    let zones = customZones.get(row.frontdoor_id);
    if (zones === undefined) {
      zones = customZonesOf(byOwner.get(row.frontdoor_id) ?? []);
      customZones.set(row.frontdoor_id, zones);
    }
    return {
      row,
      relations: {
        frontends: frontends.map(({ ref, zone, place }) => ({ id: ref, zone, createdAtMs: place })),
        authProviderIds: refsOf('provider'),
        grants: refsOf('grant'),
        customZones: zones,
        domains: own.flatMap(({ relation, zone }) => (relation === 'domain' ? zone : [])),
      },
    };
  });
}

function customZonesOf(found: readonly Relation[]): readonly CustomZone[] {
  const custom = found.filter(({ relation }) => relation === 'custom');
  return [...Map.groupBy(custom, ({ ref }) => ref).values()].map((guards) => {
    const { ref: id, zone: hostname, frontend_ref } = guards[0]!;
    const authProviderIds = guards.flatMap(({ provider_ref }) => provider_ref ?? []);
    return { id, hostname, frontendId: frontend_ref!, authProviderIds };
  });
}
