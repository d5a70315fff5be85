/**
 * The domains of shares: DNS names of the owner at which one public share is served too, once they are proven
 * (`hostname-proof-store.ts`). Each is a claim of a hostname, as custom frontends are. ADR 0094.
 */
import { randomUUID } from 'node:crypto';
import { FrontdoorError } from '#base';
import type { Share } from '#domain';
import type { HostnameProof, Queries, Touch } from '../../store/mod.ts';
import { checkFreeHostname } from './hostname-freedom.ts';
import { restHostnames } from './resting-name-store.ts';

export interface ShareDomain {
  readonly id: string;
  /** In lower case. */
  readonly hostname: string;
  /** PENDING is not served. */
  readonly proof: HostnameProof;
  /** The DNS name of the record that proved it; null if none did. */
  readonly proofName: string | null;
  readonly proofEndsAtMs: number | null;
  readonly proofProblem: string | null;
  readonly createdAtMs: number;
}

/** The domains of a share, by their age. They are few. */
export async function listShareDomains(db: Queries, shareId: string): Promise<ShareDomain[]> {
  const rows = await db
    .selectFrom('hostname_claim')
    .selectAll()
    .where('share_id', '=', shareId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    hostname: row.hostname,
    proof: row.proof,
    proofName: row.proof_name,
    proofEndsAtMs: row.proof_ends_at,
    proofProblem: row.proof_problem,
    createdAtMs: row.created_at,
  }));
}

export async function findShareDomain(
  db: Queries,
  shareId: string,
  hostname: string,
): Promise<ShareDomain | undefined> {
  const name = hostname.toLowerCase();
  return (await listShareDomains(db, shareId)).find((domain) => domain.hostname === name);
}

export interface NewShareDomain {
  /** A DNS name in any case. */
  readonly hostname: string;
  readonly nowMs: number;
  /** When the claim ends unless it is proven. */
  readonly claimEndsAtMs: number;
}

/** The domain in an audit event. */
export function shareDomainView({ hostname, proof }: ShareDomain) {
  return { domain: { hostname, proof } };
}

/** Claims a domain for a locked share. Throws `conflict` for a private share and a taken name. */
export async function insertShareDomain(
  trx: Queries,
  touch: Touch,
  share: Pick<Share, 'id' | 'token' | 'shareMode' | 'frontdoorId'>,
  wanted: NewShareDomain,
): Promise<ShareDomain> {
  const hostname = wanted.hostname.toLowerCase();
  if (share.shareMode === 'private')
    throw conflict(`The share ${share.token} is private: only public shares have domains`);
  if ((await findShareDomain(trx, share.id, hostname)) !== undefined)
    throw conflict(`The share ${share.token} has the domain ${hostname} already`);
  const frontdoor = await trx
    .selectFrom('frontdoor')
    .select(['id', 'organization_id as organizationId'])
    .where('id', '=', share.frontdoorId)
    .executeTakeFirstOrThrow();
  await checkFreeHostname(trx, { frontdoor, hostname, shareId: share.id }, wanted.nowMs);
  const id = randomUUID();
  await trx
    .insertInto('hostname_claim')
    .values({
      id,
      frontdoor_id: share.frontdoorId,
      share_id: share.id,
      hostname,
      status: 'NEW',
      proof: 'PENDING',
      proof_ends_at: wanted.claimEndsAtMs,
      proof_due_at: wanted.nowMs,
      created_at: wanted.nowMs,
    })
    .execute();
  touch('hostname-claim', id);
  return (await findShareDomain(trx, share.id, hostname))!;
}

export interface DomainOfEnvironment extends Pick<ShareDomain, 'hostname' | 'proof' | 'proofProblem'> {
  readonly shareId: string;
  readonly organizationId: string;
}

/** The domains of the shares that an environment hosts, by share id. */
export async function domainsOfEnvironment(
  db: Queries,
  environmentId: string,
): Promise<ReadonlyMap<string, readonly DomainOfEnvironment[]>> {
  const rows = await db
    .selectFrom('hostname_claim')
    .innerJoin('share', 'share.id', 'hostname_claim.share_id')
    .innerJoin('frontdoor', 'frontdoor.id', 'share.frontdoor_id')
    .select(['share.id as shareId', 'hostname', 'proof', 'proof_problem as proofProblem'])
    .select('organization_id as organizationId')
    .where('share.environment_id', '=', environmentId)
    .orderBy('hostname_claim.created_at')
    .orderBy('hostname_claim.id')
    .execute();
  return Map.groupBy(rows, ({ shareId }) => shareId);
}

/** Removes a domain of a locked share; its name rests. Returns undefined if the share has no such domain. */
export async function deleteShareDomain(
  trx: Queries,
  touch: Touch,
  { id: shareId, frontdoorId }: Pick<Share, 'id' | 'frontdoorId'>,
  hostname: string,
  nowMs: number,
): Promise<ShareDomain | undefined> {
  const before = await findShareDomain(trx, shareId, hostname);
  if (before === undefined) return undefined;
  await restHostnames(trx, frontdoorId, nowMs, { id: before.id, kind: 'share-domain' });
  await trx.deleteFrom('hostname_claim').where('id', '=', before.id).execute();
  touch('share', shareId);
  return before;
}

function conflict(message: string): FrontdoorError {
  return new FrontdoorError('conflict', 'conflict', message);
}
