/** The limits that organizations and frontdoors have, and who has used most of one. */
import { sql } from 'kysely';
import type { Queries } from '../../store/mod.ts';
import { MAX_CLAIMS, MAX_CUSTOM_FRONTENDS, MAX_DOMAINS_OF_FRONTDOOR } from '../records/hostname-freedom.ts';
import { MAX_DESTINATIONS } from './destination-store.ts';

export type QuotaLimit = 'custom-frontends' | 'domains' | 'unproven-hostnames' | 'notification-destinations';

export interface QuotaUse {
  readonly limit: QuotaLimit;
  readonly organizationId: string;
  /** Null for a limit of the organization. */
  readonly frontdoorId: string | null;
  readonly used: number;
  readonly most: number;
}

/** The first share of a limit that is reported. */
const SHARE = 0.8;
/** For each limit; those beyond are reported when others have become fewer. */
export const MOST_FOUND = 500;

const least = (most: number): number => Math.ceil(most * SHARE);

export interface QuotaUses {
  readonly uses: readonly QuotaUse[];
  /** Limits of which there may be more uses than those returned. */
  readonly cutOff: ReadonlySet<string>;
}

/** Returns the uses of 80 % and more. */
export async function quotaUses(db: Queries): Promise<QuotaUses> {
  const claims = db
    .selectFrom('hostname_claim')
    .innerJoin('frontdoor', 'frontdoor.id', 'hostname_claim.frontdoor_id');
  const used = sql<number | string>`count(*)`;
  const byFrontdoor = (isDomain: boolean, most: number) =>
    claims
      .select(['frontdoor.organization_id as organizationId', 'frontdoor.id as frontdoorId', used.as('used')])
      .where('share_id', isDomain ? 'is not' : 'is', null)
      .groupBy(['frontdoor.organization_id', 'frontdoor.id'])
      .having(used, '>=', least(most))
      .limit(MOST_FOUND)
      .execute();
  const unproven = await claims
    .select(['frontdoor.organization_id as organizationId', used.as('used')])
    .where('proof', '=', 'PENDING')
    .groupBy('frontdoor.organization_id')
    .having(used, '>=', least(MAX_CLAIMS))
    .limit(MOST_FOUND)
    .execute();
  const destinations = await db
    .selectFrom('notification_destination')
    .select(['organization_id as organizationId', used.as('used')])
    .groupBy('organization_id')
    .having(used, '>=', least(MAX_DESTINATIONS))
    .limit(MOST_FOUND)
    .execute();
  const cutOff = new Set<string>();
  const usesOf = (limit: QuotaLimit, most: number, found: readonly FoundUse[]): readonly QuotaUse[] => {
    if (found.length >= MOST_FOUND) cutOff.add(limit);
    return found.map(({ organizationId, frontdoorId = null, used: count }) => ({
      limit,
      organizationId,
      frontdoorId,
      used: Number(count),
      most,
    }));
  };
  const uses = [
    ...usesOf('custom-frontends', MAX_CUSTOM_FRONTENDS, await byFrontdoor(false, MAX_CUSTOM_FRONTENDS)),
    ...usesOf('domains', MAX_DOMAINS_OF_FRONTDOOR, await byFrontdoor(true, MAX_DOMAINS_OF_FRONTDOOR)),
    ...usesOf('unproven-hostnames', MAX_CLAIMS, unproven),
    ...usesOf('notification-destinations', MAX_DESTINATIONS, destinations),
  ];
  return { uses, cutOff };
}

interface FoundUse {
  readonly organizationId: string;
  readonly frontdoorId?: string;
  readonly used: number | string;
}
