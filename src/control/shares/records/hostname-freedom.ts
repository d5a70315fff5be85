/** Whether a frontdoor may claim a hostname: the numbers of claims, and the names of the installation and of others. */
import { sql } from 'kysely';
import { FrontdoorError } from '#base';
import { zonesOverlap } from '#domain';
import { lockedByName, type Queries } from '../../store/mod.ts';
import { namesFrom } from './custom-host.ts';
import type { GrantedFrontdoor } from './frontdoor-store.ts';
import { isExcluded } from './hostname-overlap.ts';
import { checkDomainReach } from './names-below.ts';
import { restsForAnother } from './resting-name-store.ts';

/** Each of them adds a host to every public share. */
export const MAX_CUSTOM_FRONTENDS = 100;
/** Each of them is looked up daily. */
export const MAX_DOMAINS_OF_FRONTDOOR = 1_000;
const MAX_DOMAINS_OF_SHARE = 20;
/** Each of them is looked up again and again. */
export const MAX_CLAIMS = 100;

export interface WantedHostname {
  readonly frontdoor: Pick<GrantedFrontdoor, 'id' | 'organizationId'>;
  /** In lower case. */
  readonly hostname: string;
  /** The share whose domain it is to be; null for a custom frontend. */
  readonly shareId: string | null;
}

/** Until the transaction ends, no other claims a hostname or changes what is served. Throws `conflict`. */
export async function checkFreeHostname(trx: Queries, wanted: WantedHostname, nowMs: number): Promise<void> {
  const { frontdoor, hostname, shareId } = wanted;
  const { organizationId } = frontdoor;
  // Names above and below have no rows that could be locked.
  await lockedByName(trx, 'custom frontends');
  await checkNumbers(trx, wanted);
  const zones = await trx.selectFrom('frontend').select('zone').execute();
  const isTaken =
    zones.some(({ zone }) => zonesOverlap(zone.toLowerCase(), hostname)) ||
    // What another organization claims without a proof blocks nobody.
    (await isExcluded(trx, { organizationId, hostname, shareId })) ||
    // Checked after the live names, so that a name that moves between the two sets in the meantime is found in one
    // of them.
    (await restsForAnother(trx, organizationId, { hostname, above: namesFrom(hostname) }, nowMs));
  // The message does not name the owner.
  if (isTaken) throw conflict(`The name ${hostname}, or one above or below it, is taken`);
  await checkDomainReach(
    trx,
    hostname,
    shareId === null ? undefined : { id: shareId, frontdoorId: frontdoor.id },
  );
}

async function checkNumbers(trx: Queries, { frontdoor, shareId }: WantedHostname): Promise<void> {
  const claims = trx
    .selectFrom('hostname_claim')
    .innerJoin('frontdoor', 'frontdoor.id', 'hostname_claim.frontdoor_id')
    .where('organization_id', '=', frontdoor.organizationId);
  const ofSameKind = shareId === null ? sql`share_id is null` : sql`share_id is not null`;
  const { ofKind, ofShare, open } = await claims
    .select([
      sql<number>`coalesce(sum(case when frontdoor.id = ${frontdoor.id} and ${ofSameKind} then 1 else 0 end), 0)`.as(
        'ofKind',
      ),
      sql<number>`coalesce(sum(case when share_id = ${shareId ?? ''} then 1 else 0 end), 0)`.as('ofShare'),
      sql<number>`coalesce(sum(case when proof = 'PENDING' then 1 else 0 end), 0)`.as('open'),
    ])
    .executeTakeFirstOrThrow();
  if (shareId === null && Number(ofKind) >= MAX_CUSTOM_FRONTENDS)
    throw conflict(`A frontdoor has at most ${MAX_CUSTOM_FRONTENDS} custom frontends`);
  if (shareId !== null && Number(ofShare) >= MAX_DOMAINS_OF_SHARE)
    throw conflict(`A share has at most ${MAX_DOMAINS_OF_SHARE} domains`);
  if (shareId !== null && Number(ofKind) >= MAX_DOMAINS_OF_FRONTDOOR)
    throw conflict(`The shares of a frontdoor have at most ${MAX_DOMAINS_OF_FRONTDOOR} domains`);
  if (Number(open) >= MAX_CLAIMS)
    throw conflict(
      `An organization has at most ${MAX_CLAIMS} custom frontends and domains that are not proven`,
    );
}

function conflict(message: string): FrontdoorError {
  return new FrontdoorError('conflict', 'conflict', message);
}
