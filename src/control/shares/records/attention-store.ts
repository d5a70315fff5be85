/** Stored resources of a frontdoor that need attention. */
import { sql } from 'kysely';
import type { Queries } from '../../store/mod.ts';
import { COUNTS_FOR_MS } from './domain-certificate-store.ts';
import type { GrantedFrontdoor } from './frontdoor-store.ts';

export interface WaitingDomains {
  readonly total: number;
  readonly first: readonly { readonly id: string; readonly hostname: string }[];
}

/** Custom frontends that no gateway serves with a certificate yet. */
export async function waitingDomains(
  db: Queries,
  { id }: GrantedFrontdoor,
  limit: number,
): Promise<WaitingDomains> {
  const waiting = db
    .selectFrom('hostname_claim')
    .where('frontdoor_id', '=', id)
    .where('share_id', 'is', null)
    .where('status', '!=', 'ACTIVE');
  const [{ total }, first] = await Promise.all([
    waiting.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow(),
    waiting.select(['id', 'hostname']).orderBy('hostname').orderBy('id').limit(limit).execute(),
  ]);
  return { total: Number(total), first };
}

export interface ExpiringDomain {
  readonly frontdoorId: string;
  readonly shareToken: string;
  readonly hostname: string;
  /** The end of the certificate that ends first, if several gateways serve the domain. */
  readonly validUntilMs: number;
}

/** Domains of shares, of a frontdoor or all, whose certificate ends before `beforeMs`, the first to end. */
export async function expiringDomains(
  db: Queries,
  frontdoor: Pick<GrantedFrontdoor, 'id'> | undefined,
  window: { readonly nowMs: number; readonly beforeMs: number; readonly limit: number },
): Promise<ExpiringDomain[]> {
  const { nowMs, beforeMs, limit } = window;
  let query = db
    .selectFrom('domain_certificate')
    .innerJoin('hostname_claim', 'hostname_claim.id', 'domain_certificate.claim_id')
    .innerJoin('share', 'share.id', 'hostname_claim.share_id')
    .where('domain_certificate.reported_at', '>', nowMs - COUNTS_FOR_MS)
    .where('domain_certificate.valid_until', '<', beforeMs);
  if (frontdoor !== undefined) query = query.where('hostname_claim.frontdoor_id', '=', frontdoor.id);
  const rows = await query
    .groupBy(['hostname_claim.frontdoor_id', 'share.token', 'hostname_claim.hostname'])
    .select(['hostname_claim.frontdoor_id', 'share.token', 'hostname_claim.hostname'])
    .select(sql<number>`min(domain_certificate.valid_until)`.as('until'))
    .orderBy(sql`4`)
    .orderBy('hostname_claim.hostname')
    .limit(limit)
    .execute();
  return rows.map(({ frontdoor_id: frontdoorId, token, hostname, until }) => ({
    frontdoorId,
    shareToken: token,
    hostname,
    validUntilMs: Number(until),
  }));
}
