/** Operations on the upstream settings of a share: how its requests reach the service. */
import { invalidValue } from '#domain';
import {
  changedUpstream,
  DEFAULT_UPSTREAM,
  type ShareUpstream,
  type ShareUpstreamChange,
} from '#domain/upstream';
import { findShareUpstream, putShareUpstream } from '../records/share-upstream-store.ts';
import { upstreamProblem } from '../records/upstream-check.ts';
import { change, gone, ok, type Call, type ChangeParts, type Handlers } from './call.ts';
import { checkIfMatch } from './entity-tag.ts';
import { lockedShareId, namedShareId } from './named-share.ts';

export const shareUpstreamHandlers: Handlers<
  ChangeParts,
  'getShareUpstream' | 'replaceShareUpstream' | 'changeShareUpstream' | 'resetShareUpstream'
> = {
  async getShareUpstream({ store }, call) {
    return ok(await findShareUpstream(store.db, await namedShareId(store.db, call)));
  },

  async replaceShareUpstream(parts, call) {
    return ok(await put(parts, call, () => checked(DEFAULT_UPSTREAM, call.body)));
  },

  async changeShareUpstream(parts, call) {
    return ok(await put(parts, call, (before) => checked(before, call.body)));
  },

  async resetShareUpstream(parts, call) {
    await put(parts, call, () => DEFAULT_UPSTREAM, true);
    return gone;
  },
};

function put(
  parts: ChangeParts,
  call: Call<unknown, 'token'>,
  wantedOf: (before: ShareUpstream) => ShareUpstream,
  isRemoved = false,
): Promise<ShareUpstream> {
  return change(parts, call, async (trx, touch) => {
    const shareId = await lockedShareId(trx, call);
    const before = await findShareUpstream(trx, shareId);
    checkIfMatch(parts, call, before);
    const result = wantedOf(before);
    await putShareUpstream(trx, touch, shareId, result, parts.clock.nowMs());
    return {
      result,
      target: { kind: 'share', id: call.parameters.token },
      before: { upstream: before },
      ...(isRemoved ? {} : { after: { upstream: result } }),
    };
  });
}

function checked(before: ShareUpstream, wanted: ShareUpstreamChange): ShareUpstream {
  const problem = upstreamProblem(wanted);
  if (problem !== undefined) throw invalidValue(problem.field, problem.rule);
  return changedUpstream(before, wanted);
}
