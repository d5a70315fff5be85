/**
 * Which claimed hostnames exclude each other (ADR 0061, 0094). A custom frontend has everything below it. Domains of shares
 * are single names: those of one organization may be above and below each other, and above its custom frontends. A
 * name that is served for another organization excludes all above and below it.
 */
import { sql } from 'kysely';
import type { Queries } from '../../store/mod.ts';
import { namesFrom } from './custom-host.ts';

export interface ClaimedName {
  /** Undefined before it is stored. */
  readonly id?: string | undefined;
  readonly organizationId: string;
  readonly hostname: string;
  /** The share whose domain it is; null for a custom frontend. */
  readonly shareId: string | null;
}

/** Whether another claim excludes this one. Before it is stored, claims of its organization count that are not proven, too. */
export async function isExcluded(trx: Queries, claim: ClaimedName): Promise<boolean> {
  const { id = '', organizationId, hostname, shareId } = claim;
  const above = namesFrom(hostname);
  const below = `%.${hostname}`;
  const isOwn = sql<boolean>`organization_id = ${organizationId}`;
  const mayOverlap =
    shareId === null
      ? sql<boolean>`share_id is not null and hostname <> ${hostname} and hostname not like ${below}`
      : sql<boolean>`(share_id is not null and hostname <> ${hostname}) or (share_id is null and hostname like ${below})`;
  const row = await trx
    .selectFrom('hostname_claim')
    .innerJoin('frontdoor', 'frontdoor.id', 'hostname_claim.frontdoor_id')
    .select('hostname_claim.id')
    .where('hostname_claim.id', '!=', id)
    .where((where) => where.or([where('hostname', 'in', above), where('hostname', 'like', below)]))
    .where(
      claim.id === undefined
        ? sql<boolean>`(${isOwn} or proof <> 'PENDING')`
        : sql<boolean>`proof <> 'PENDING'`,
    )
    .where(sql<boolean>`not (${isOwn} and (${mayOverlap}))`)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
