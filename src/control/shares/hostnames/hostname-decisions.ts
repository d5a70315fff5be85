/** What a proof, its loss and an operator's grant change, each inside the caller's transaction and with its audit event. */
import { FrontdoorError } from '#base';
import { appendMachineAudit, THE_SYSTEM, type AuditParts } from '../../audit/mod.ts';
import {
  changeProof,
  contestOf,
  endClaim,
  type HostnameClaim,
  type ProofChange,
} from '../records/hostname-proof-store.ts';
import type { Queries, Touch } from '../../store/mod.ts';
import { lostAt } from './hostname-proof-policy.ts';

/** A granted name needs no look-ups. */
const NEVER_MS = Number.MAX_SAFE_INTEGER;

/** The part of an audit event's view that proofs change. */
export function hostnameView({ id, frontdoorId, hostname, proof, proofName }: HostnameClaim) {
  return { id, frontdoorId, hostname, proof, proofName };
}

/** What an event about a claim is about: readers of a share see what happens to its domains. */
export function claimTarget({ id, share }: Pick<HostnameClaim, 'id' | 'share'>) {
  return share === null ? { kind: 'custom-frontend', id } : { kind: 'share', id: share.token };
}

/** Changes a proof as the program itself. */
export async function decide(
  ...[trx, touch, parts, claim, change, action]: [
    ...[trx: Queries, touch: Touch, parts: AuditParts, claim: HostnameClaim, change: ProofChange],
    action: string,
  ]
): Promise<void> {
  const after = await changeProof(trx, touch, claim, change, parts.clock.nowMs());
  await note(trx, touch, parts, { claim, after, action });
}

/** Ends a claim as the program itself. */
export async function endUnproven(
  trx: Queries,
  touch: Touch,
  parts: AuditParts,
  claim: HostnameClaim,
): Promise<void> {
  await endClaim(trx, touch, claim);
  await note(trx, touch, parts, { claim, after: undefined, action: 'endHostnameClaim' });
}

/** Serves a locked claim by an operator's decision. Throws `conflict` if the name belongs to another. */
export async function grantHostname(
  trx: Queries,
  touch: Touch,
  parts: AuditParts,
  claim: HostnameClaim,
): Promise<HostnameClaim> {
  if (claim.proof === 'GRANTED') return claim;
  if (claim.proof === 'PENDING') {
    const problem = await contestOf(trx, claim, parts.clock.nowMs());
    if (problem !== undefined)
      throw new FrontdoorError('conflict', 'conflict', `${claim.hostname} cannot be granted: ${problem}`);
  }
  const granted = { proof: 'GRANTED', proofName: null, endsAtMs: null, problem: null, misses: 0 } as const;
  return changeProof(trx, touch, claim, { ...granted, dueAtMs: NEVER_MS }, parts.clock.nowMs());
}

/** Ends an operator's grant. The name is a claim then, whose record is looked up. */
export async function withdrawHostname(
  trx: Queries,
  touch: Touch,
  parts: AuditParts,
  claim: HostnameClaim,
): Promise<HostnameClaim> {
  if (claim.proof !== 'GRANTED')
    throw new FrontdoorError(
      'conflict',
      'conflict',
      `${claim.hostname} has no grant: its proof is ${claim.proof}`,
    );
  const nowMs = parts.clock.nowMs();
  const change = { ...lostAt(nowMs), proofName: null, problem: null, dueAtMs: nowMs };
  return changeProof(trx, touch, claim, change, nowMs);
}

async function note(
  trx: Queries,
  touch: Touch,
  parts: AuditParts,
  {
    claim,
    after,
    action,
  }: {
    readonly claim: HostnameClaim;
    readonly after: HostnameClaim | undefined;
    readonly action: string;
  },
): Promise<void> {
  await appendMachineAudit(trx, touch, parts, {
    ownerId: claim.frontdoorId,
    actor: THE_SYSTEM,
    action,
    target: claimTarget(claim),
    before: hostnameView(claim),
    after: after && hostnameView(after),
    address: null,
  });
}
