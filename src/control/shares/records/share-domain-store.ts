/**
 * The domains of shares: DNS names of the owner at which one public share is served too, once they are proven
 * (`hostname-proof-store.ts`). Each is a claim of a hostname, as custom frontends are. ADR 0094.
 */
import { randomUUID } from 'node:crypto';
import { FrontdoorError } from '#base';
import type { Share } from '#domain';
import type { HostnameProof, Queries, Touch } from '../../store/mod.ts';
import type { GrantedFrontdoor } from './frontdoor-store.ts';
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

/** Claims a domain for a locked share. Throws `conflict` for a private share and a taken name. */
export async function insertShareDomain(
  trx: Queries,
  touch: Touch,
  frontdoor: GrantedFrontdoor,
  share: Pick<Share, 'id' | 'token' | 'shareMode'>,
  wanted: NewShareDomain,
): Promise<ShareDomain> {
  const hostname = wanted.hostname.toLowerCase();
  if (share.shareMode === 'private')
    throw conflict(`The share ${share.token} is private: only public shares have domains`);
  if ((await findShareDomain(trx, share.id, hostname)) !== undefined)
    throw conflict(`The share ${share.token} has the domain ${hostname} already`);
  await checkFreeHostname(trx, { frontdoor, hostname, shareId: share.id }, wanted.nowMs);
  const id = randomUUID();
  await trx
    .insertInto('hostname_claim')
    .values({
      id,
      frontdoor_id: frontdoor.id,
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
