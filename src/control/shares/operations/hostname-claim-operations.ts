/** Operations of operators on the hostnames of all custom frontends and shares: which are claimed and proven, and grants. */
import type { HostnameClaimAnswer } from '#contract/schemas';
import { claimTarget, grantHostname, withdrawHostname } from '../hostnames/hostname-decisions.ts';
import { listClaims, lockClaim, type HostnameClaim } from '../records/hostname-proof-store.ts';
import type { StoreTransaction } from '../../store/mod.ts';
import { notFound } from './api-errors.ts';
import { change, gone, isoTime, ok, type Call, type ChangeParts, type Handlers } from './call.ts';
import { countedPageAnswer, parsePageRequest, textOf } from './page-query.ts';

export const hostnameClaimHandlers: Handlers<
  ChangeParts,
  'listHostnameClaims' | 'grantHostname' | 'withdrawHostname'
> = {
  async listHostnameClaims(parts, call) {
    const request = parsePageRequest(call.query);
    const page = await listClaims(parts.store.db, request, {
      name: textOf(call.query, 'name'),
      organizationId: textOf(call.query, 'organizationId'),
      proof: textOf(call.query, 'proof'),
    });
    return ok(countedPageAnswer(request, page, page.content.map(answerOf)));
  },

  async grantHostname(parts, call) {
    const after = await change(parts, call, async (trx, touch) => {
      const before = await claimOf(trx, call);
      const result = await grantHostname(trx, touch, parts, before);
      return changed(before, result);
    });
    return ok(answerOf(after));
  },

  async withdrawHostname(parts, call) {
    await change(parts, call, async (trx, touch) => {
      const before = await claimOf(trx, call);
      // The grant is gone, so that the event has no state after it.
      return { ...changed(before, await withdrawHostname(trx, touch, parts, before)), after: undefined };
    });
    return gone;
  },
};

/** The event is in the trail of the organization that claims the name. */
function changed(before: HostnameClaim, result: HostnameClaim) {
  return {
    result,
    target: claimTarget(before),
    before: answerOf(before),
    after: answerOf(result),
    organizationId: before.organizationId,
    ownerId: before.frontdoorId,
  };
}

async function claimOf(
  trx: StoreTransaction,
  { parameters }: Call<unknown, 'hostnameClaimId'>,
): Promise<HostnameClaim> {
  const claim = await lockClaim(trx, parameters.hostnameClaimId);
  if (claim === undefined) throw notFound('Hostname claim', parameters.hostnameClaimId);
  return claim;
}

function answerOf(claim: HostnameClaim): HostnameClaimAnswer {
  const { id, hostname, organizationId, frontdoorId, share, proof, endsAtMs, problem, createdAtMs } = claim;
  return {
    id,
    hostname,
    organizationId,
    frontdoorId,
    shareToken: share?.token ?? null,
    proof,
    proofEndsAt: endsAtMs === null ? null : isoTime(endsAtMs),
    proofProblem: problem,
    createdAt: isoTime(createdAtMs),
  };
}
