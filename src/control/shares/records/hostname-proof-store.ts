/**
 * The proofs of claimed hostnames, of custom frontends and of shares: which are due for a look-up, and what a proof, its loss or an operator's
 * decision changes. Any number of claims may name a hostname; the one that is served excludes all above and below it.
 */
import { sql } from 'kysely';
import { touchCustomFrontend } from './custom-frontend-store.ts';
import { namesFrom } from './custom-host.ts';
import { isExcluded } from './hostname-overlap.ts';
import { reachProblem } from './names-below.ts';
import { endOwnRest, restsForAnother } from './resting-name-store.ts';
import {
  orderedPage,
  narrowed,
  type Page,
  type PageRequest,
  lockedByName,
  type HostnameProof,
  type Queries,
  type Touch,
} from '../../store/mod.ts';

/** Due names among which the oldest of each organization are found. */
const MAX_COMPARED = 1_000;

/** A custom frontend, or the domain of a share, as its proof concerns it. */
export interface HostnameClaim {
  /** That of the custom frontend, if it is one. */
  readonly id: string;
  readonly frontdoorId: string;
  readonly organizationId: string;
  readonly hostname: string;
  /** Null for the domain of a share. */
  readonly frontendId: string | null;
  /** The share whose domain it is; null for a custom frontend. */
  readonly share: { readonly id: string; readonly token: string } | null;
  readonly proof: HostnameProof;
  readonly proofName: string | null;
  readonly endsAtMs: number | null;
  readonly problem: string | null;
  readonly misses: number;
  readonly createdAtMs: number;
}

export interface ProofChange {
  readonly proof: HostnameProof;
  /** The DNS name whose record proves it. */
  readonly proofName: string | null;
  readonly endsAtMs: number | null;
  readonly problem: string | null;
  readonly misses: number;
  readonly dueAtMs: number;
}

export interface DueProofs {
  readonly nowMs: number;
  /** Until then no other control plane takes them. */
  readonly leaseUntilMs: number;
  readonly most: number;
  readonly mostPerOrganization: number;
  /** Organizations that are left out. */
  readonly except: readonly string[];
}

/** Takes hostnames whose look-up is due, the oldest first, of each organization a few. */
export async function takeDueProofs(db: Queries, due: DueProofs): Promise<HostnameClaim[]> {
  const { nowMs, leaseUntilMs, most, mostPerOrganization, except } = due;
  let oldest = claimsOf(db)
    .where('proof_due_at', '<=', nowMs)
    .where('proof', '!=', 'GRANTED')
    .orderBy('proof_due_at')
    .limit(MAX_COMPARED);
  if (except.length > 0) oldest = oldest.where('frontdoor.organization_id', 'not in', except);
  const place = sql<number>`row_number() over (partition by organization_id order by proof_due_at, id)`;
  const waiting = db.selectFrom(oldest.as('oldest')).selectAll().select(place.as('nth'));
  const rows = await db
    .selectFrom(waiting.as('waiting'))
    .selectAll()
    .where('nth', '<=', mostPerOrganization)
    .orderBy('nth')
    .orderBy('proof_due_at')
    .limit(most)
    .execute();
  if (rows.length === 0) return [];
  const taken = await db
    .updateTable('hostname_claim')
    .set({ proof_due_at: leaseUntilMs })
    .where(
      'id',
      'in',
      rows.map(({ id }) => id),
    )
    .where('proof_due_at', '<=', nowMs)
    .returning('id')
    .execute();
  const ids = new Set(taken.map(({ id }) => id));
  return rows.filter(({ id }) => ids.has(id)).map(claimOf);
}

/** Whether another organization is served by a record of this domain. */
export async function isProvenByAnother(
  db: Queries,
  domain: string,
  organizationId: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('hostname_claim')
    .innerJoin('frontdoor', 'frontdoor.id', 'hostname_claim.frontdoor_id')
    .select('hostname_claim.id')
    .where('proof_name', '=', domain)
    .where('frontdoor.organization_id', '!=', organizationId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Notes a look-up that changed neither the proof nor its end. Returns whether the proof was still the same. */
export async function noteLookUp(
  db: Queries,
  { id, proof }: Pick<HostnameClaim, 'id' | 'proof'>,
  { misses, problem, dueAtMs, proofName }: ProofChange,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('hostname_claim')
    .set({ proof_misses: misses, proof_problem: problem, proof_due_at: dueAtMs, proof_name: proofName })
    .where('id', '=', id)
    .where('proof', '=', proof)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** A look-up is due now, for one that waits for its record: listeners take it. */
export async function hastenProof(trx: Queries, touch: Touch, id: string): Promise<void> {
  await trx
    .updateTable('hostname_claim')
    .set({ proof_due_at: 0 })
    .where('id', '=', id)
    .where('proof', 'in', ['PENDING', 'MISSING'])
    .execute();
  touch('hostname-claim', id);
}

/** The claim; no other transaction changes what is served until this one ends. */
export async function lockClaim(trx: Queries, id: string): Promise<HostnameClaim | undefined> {
  await lockedByName(trx, 'custom frontends');
  const row = await claimsOf(trx).where('hostname_claim.id', '=', id.toLowerCase()).executeTakeFirst();
  return row && claimOf(row);
}

/** Returns why a claim cannot be served, in words, or undefined if the name is free. */
export async function contestOf(
  trx: Queries,
  { id, frontdoorId, hostname, organizationId, share }: HostnameClaim,
  nowMs: number,
): Promise<string | undefined> {
  if (await isExcluded(trx, { id, organizationId, hostname, shareId: share?.id ?? null }))
    return 'the name, or one above or below it, is served for another custom frontend or share';
  if (await restsForAnother(trx, organizationId, { hostname, above: namesFrom(hostname) }, nowMs))
    return 'the name, or one above or below it, rests for the organization that gave it up';
  return reachProblem(trx, hostname, share === null ? undefined : { id: share.id, frontdoorId });
}

/** Changes the proof of a locked claim, and what is served with it. */
export async function changeProof(
  trx: Queries,
  touch: Touch,
  claim: HostnameClaim,
  { proof, proofName, endsAtMs, problem, misses, dueAtMs }: ProofChange,
  nowMs: number,
): Promise<HostnameClaim> {
  const isChanged = (claim.proof === 'PENDING') !== (proof === 'PENDING');
  await trx
    .updateTable('hostname_claim')
    .set({
      proof,
      proof_name: proofName,
      proof_ends_at: endsAtMs,
      proof_problem: problem,
      proof_misses: misses,
      proof_due_at: dueAtMs,
      ...(isChanged ? { status: 'NEW' as const, certified_at: null } : {}),
    })
    .where('id', '=', claim.id)
    .execute();
  if (isChanged) {
    if (proof !== 'PENDING') await endOwnRest(trx, claim.frontdoorId, claim.hostname, nowMs);
    await touchServed(trx, touch, claim);
  }
  return { ...claim, proof, proofName, endsAtMs, problem, misses };
}

/** Deletes a claim that is not served. */
export async function endClaim(
  trx: Queries,
  touch: Touch,
  { id, share }: Pick<HostnameClaim, 'id' | 'share'>,
): Promise<void> {
  await trx.deleteFrom('hostname_claim').where('id', '=', id).execute();
  touch(share === null ? 'custom-frontend' : 'hostname-claim', id);
}

/** Gateways have to learn that a name is served, or no longer. */
async function touchServed(
  trx: Queries,
  touch: Touch,
  { id, frontdoorId, frontendId, share }: HostnameClaim,
): Promise<void> {
  if (frontendId !== null) await touchCustomFrontend(trx, touch, { id, frontdoorId, frontendId });
  if (share !== null) touch('share', share.id);
}

const CREATED = sql.ref('hostname_claim.created_at');
const ID = sql.ref('hostname_claim.id');
const ORDER = {
  tie: ID,
  fields: { default: CREATED, createdAt: CREATED, hostname: sql.ref('hostname'), id: ID },
};

/** Claimed hostnames: all of the installation for operators, or the domains of a frontdoor's shares. */
export async function listClaims(
  db: Queries,
  request: PageRequest,
  filter: {
    readonly name?: string | undefined;
    readonly organizationId?: string | undefined;
    readonly proof?: string | undefined;
    /** The frontdoor whose shares have them. */
    readonly domainsOf?: string | undefined;
  },
): Promise<Page<HostnameClaim>> {
  const { name, organizationId, proof, domainsOf } = filter;
  let claims = claimsOf(db);
  if (domainsOf !== undefined)
    claims = claims
      .where('hostname_claim.frontdoor_id', '=', domainsOf)
      .where('hostname_claim.share_id', 'is not', null);
  if (organizationId !== undefined)
    claims = claims.where('frontdoor.organization_id', '=', organizationId.toLowerCase());
  if (proof !== undefined) claims = claims.where(sql<boolean>`proof = ${proof}`);
  const query = narrowed(claims, { name }, { name: 'hostname_claim.hostname' });
  const { content, total } = await orderedPage(query, ORDER, request);
  return { content: content.map(claimOf), total };
}

function claimsOf(db: Queries) {
  return db
    .selectFrom('hostname_claim')
    .innerJoin('frontdoor', 'frontdoor.id', 'hostname_claim.frontdoor_id')
    .leftJoin('share', 'share.id', 'hostname_claim.share_id')
    .select([
      'hostname_claim.id',
      'hostname_claim.frontdoor_id',
      'organization_id',
      'hostname',
      'frontend_id',
    ])
    .select(['proof', 'share_id', 'share.token as share_token'])
    .select(['proof_name', 'proof_ends_at', 'proof_problem', 'proof_misses', 'proof_due_at'])
    .select('hostname_claim.created_at');
}

type ClaimRow = Awaited<ReturnType<ReturnType<typeof claimsOf>['execute']>>[number];

function claimOf(row: ClaimRow): HostnameClaim {
  return {
    id: row.id,
    frontdoorId: row.frontdoor_id,
    organizationId: row.organization_id,
    hostname: row.hostname,
    frontendId: row.frontend_id,
    share: row.share_id === null ? null : { id: row.share_id, token: row.share_token! },
    proof: row.proof,
    proofName: row.proof_name,
    endsAtMs: row.proof_ends_at,
    problem: row.proof_problem,
    misses: row.proof_misses,
    createdAtMs: row.created_at,
  };
}
