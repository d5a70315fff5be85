/**
 * The certificates of shares' domains, as each gateway reports them. Gateways report all of them by turns, so most reports
 * change nothing; what was not repeated for a day counts no longer.
 */
import type { DomainCertificate } from '#domain/gateway-shapes';
import type { DomainCertificateTable, Queries, Store } from '../../store/mod.ts';

/** A report that changes nothing is written again after this time. */
const REPEATED_AFTER_MS = 3 * 3_600_000;
/** A gateway with 100,000 domains reports each of them every two hours. */
export const COUNTS_FOR_MS = 24 * 3_600_000;
const IDS_A_STATEMENT = 500;

type Row = DomainCertificateTable;

/** The state over all gateways. */
export interface CertificateOfDomain {
  /** The end of the certificate that ends first; null if no gateway has one. */
  readonly validUntilMs: number | null;
  /** Why an order failed last; null if none did. */
  readonly problem: string | null;
  readonly retryAtMs: number | null;
}

const NO_CERTIFICATE: CertificateOfDomain = { validUntilMs: null, problem: null, retryAtMs: null };

/** Takes what a gateway reports; what concerns no domain of the share has no effect. */
export async function takeDomainCertificates(
  store: Pick<Store, 'transaction'>,
  gatewayId: string,
  reported: readonly DomainCertificate[],
  nowMs: number,
): Promise<void> {
  if (reported.length === 0) return;
  await store.transaction((trx) => takeReported(trx, gatewayId, reported, nowMs));
}

async function takeReported(
  trx: Queries,
  gatewayId: string,
  reported: readonly DomainCertificate[],
  nowMs: number,
): Promise<void> {
  const claims = await claimsOf(trx, reported);
  const known = await knownOf(trx, gatewayId, [...claims.values()]);
  // By domain, because one statement cannot write a row twice.
  const rows = new Map<string, Row>();
  for (const { host, shareId, validUntilMs, problem, retryAtMs } of reported) {
    const claimId = claims.get(`${shareId} ${host}`);
    if (claimId === undefined) continue;
    rows.set(claimId, {
      claim_id: claimId,
      gateway_id: gatewayId,
      valid_until: validUntilMs,
      problem,
      retry_at: retryAtMs,
      reported_at: nowMs,
    });
  }
  const changed = [...rows.values()].filter((row) => isNews(known.get(row.claim_id), row));
  const without = changed.filter(isEmpty).map((row) => row.claim_id);
  const written = changed.filter((row) => !isEmpty(row));
  if (without.length > 0)
    await trx
      .deleteFrom('domain_certificate')
      .where('gateway_id', '=', gatewayId)
      .where('claim_id', 'in', without)
      .execute();
  if (written.length === 0) return;
  await trx
    .insertInto('domain_certificate')
    .values(written)
    .onConflict((conflict) =>
      conflict.columns(['claim_id', 'gateway_id']).doUpdateSet((row) => ({
        valid_until: row.ref('excluded.valid_until'),
        problem: row.ref('excluded.problem'),
        retry_at: row.ref('excluded.retry_at'),
        reported_at: row.ref('excluded.reported_at'),
      })),
    )
    .execute();
}

function isEmpty({ valid_until: validUntil, problem }: Row): boolean {
  return validUntil === null && problem === null;
}

function isNews(before: Row | undefined, now: Row): boolean {
  if (before === undefined) return !isEmpty(now);
  if (before.valid_until !== now.valid_until) return true;
  // A gateway that was restarted has forgotten the failure, and orders again only at that time.
  if (now.problem === null && (before.retry_at ?? 0) > now.reported_at) return false;
  if (before.problem !== now.problem || before.retry_at !== now.retry_at) return true;
  return now.reported_at - before.reported_at >= REPEATED_AFTER_MS;
}

/** The ids of the domains by share and name. */
async function claimsOf(
  trx: Queries,
  reported: readonly DomainCertificate[],
): Promise<ReadonlyMap<string, string>> {
  const hostnames = reported.map(({ host }) => host);
  const rows = await trx
    .selectFrom('hostname_claim')
    .select(['id', 'share_id', 'hostname'])
    .where('hostname', 'in', hostnames)
    .where('share_id', 'is not', null)
    .where('proof', '!=', 'PENDING')
    .execute();
  return new Map(rows.map(({ id, share_id: shareId, hostname }) => [`${shareId} ${hostname}`, id]));
}

async function knownOf(
  trx: Queries,
  gatewayId: string,
  claimIds: readonly string[],
): Promise<ReadonlyMap<string, Row>> {
  if (claimIds.length === 0) return new Map();
  const rows = await trx
    .selectFrom('domain_certificate')
    .selectAll()
    .where('gateway_id', '=', gatewayId)
    .where('claim_id', 'in', claimIds)
    .execute();
  return new Map(rows.map((row) => [row.claim_id, row]));
}

/** By the id of the domain. */
export async function certificatesOfDomains(
  db: Queries,
  ids: readonly string[],
  nowMs: number,
): Promise<(id: string) => CertificateOfDomain> {
  const states = new Map<string, CertificateOfDomain>();
  for (let at = 0; at < ids.length; at += IDS_A_STATEMENT) {
    const rows = await db
      .selectFrom('domain_certificate')
      .selectAll()
      .where('claim_id', 'in', ids.slice(at, at + IDS_A_STATEMENT))
      .where('reported_at', '>', nowMs - COUNTS_FOR_MS)
      .orderBy('reported_at')
      .execute();
    for (const row of rows) {
      const other = states.get(row.claim_id) ?? NO_CERTIFICATE;
      const failed = row.problem === null ? other : { problem: row.problem, retryAtMs: row.retry_at };
      states.set(row.claim_id, {
        validUntilMs: earlier(other.validUntilMs, row.valid_until),
        problem: failed.problem,
        retryAtMs: failed.retryAtMs,
      });
    }
  }
  return (id) => states.get(id) ?? NO_CERTIFICATE;
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}
