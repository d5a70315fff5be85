/** Operations on shares. The share store decides which changes are valid, for this API and for agents. */
import type { ShareChangeBody } from '#contract/schemas';
import { invalidValue, type Share } from '#domain';
import { changeShare, createShare, deleteShare } from '../records/share-store.ts';
import { listShares } from '../records/share-record.ts';
import type { Queries, Touch } from '../../store/mod.ts';
import { change, created, gone, ok, type ApiParts, type CreationParts, type Handlers } from './call.ts';
import { countedPageAnswer, listFilterOf, parsePageRequest } from './page-query.ts';
import { creation } from './creation.ts';
import { checkIfMatch, tagged } from './entity-tag.ts';
import { shareRecordView } from '../records/share-view.ts';
import { lockedShare, namedShare } from './named-share.ts';
import { isByState, listSharesByState } from './stated-shares.ts';
import { shareAnswerOf } from './share-answer.ts';

type ShareParts = CreationParts &
  Pick<ApiParts, 'catalog' | 'providers' | 'status' | 'counts' | 'frontendUrls'>;

export const shareHandlers: Handlers<
  ShareParts,
  'listShares' | 'createShare' | 'getShare' | 'changeShare' | 'deleteShare'
> = {
  async listShares(parts, call) {
    const request = parsePageRequest(call.query);
    const { frontdoor, query } = call;
    const filter = listFilterOf(query);
    const page = isByState(request, filter)
      ? await listSharesByState(parts, frontdoor, request, filter)
      : await listShares(parts.store, frontdoor, request, filter);
    return ok(
      countedPageAnswer(
        request,
        page,
        page.content.map((share) => shareAnswerOf(parts, share)),
      ),
    );
  },

  async createShare(parts, call) {
    const { body, frontdoor } = call;
    const make = async (trx: Queries, touch: Touch) => {
      const result = await createShare(trx, touch, {
        ...body,
        frontdoorId: frontdoor.id,
        targetByAgent: false,
        nowMs: parts.clock.nowMs(),
      });
      return { result, ...auditOf(parts, undefined, result) };
    };
    return creation(parts, call, make, (share) => {
      const answer = shareAnswerOf(parts, share);
      const path = `/frontdoor/${frontdoor.id}/shares/${share.token}`;
      return tagged(parts, created(parts, path, answer), storedOf(share));
    });
  },

  async getShare(parts, call) {
    const share = await namedShare(parts.store.db, call);
    return tagged(parts, ok(shareAnswerOf(parts, share)), storedOf(share));
  },

  async changeShare(parts, call) {
    const { body } = call;
    const share = await change(parts, call, async (trx, touch) => {
      const before = await lockedShare(trx, call);
      checkIfMatch(parts, call, storedOf(before));
      checkFixedFields(body, before);
      const result = await changeShare(trx, touch, before, body, parts.clock.nowMs());
      return { result, ...auditOf(parts, before, result) };
    });
    return tagged(parts, ok(shareAnswerOf(parts, share)), storedOf(share));
  },

  async deleteShare(parts, call) {
    await change(parts, call, async (trx, touch) => {
      const before = await lockedShare(trx, call);
      checkIfMatch(parts, call, storedOf(before));
      await deleteShare(trx, touch, before, parts.clock.nowMs());
      return { result: undefined, ...auditOf(parts, before, undefined) };
    });
    return gone;
  },
};

/** The fields that the entity tag covers. An agent that reclaims a share without changes does not change the tag. */
function storedOf({ epoch: _epoch, updatedAtMs: _at, frontends, customHosts: _hosts, ...stored }: Share) {
  return { ...stored, frontendIds: frontends.map(({ id }) => id) };
}

function auditOf(parts: ShareParts, before: Share | undefined, after: Share | undefined) {
  return {
    target: { kind: 'share', id: (after ?? before)!.token },
    before: before && shareRecordView(parts, before),
    after: after && shareRecordView(parts, after),
  };
}

/**
 * A share is identified by its token, which is its name, and stays at its environment. Both may be repeated but
 * not changed.
 */
function checkFixedFields(body: ShareChangeBody, before: Share): void {
  if (body.id !== undefined && body.id !== before.token) throw invalidValue('id', before.token);
  for (const field of ['token', 'name', 'environmentId'] as const) {
    const value = body[field];
    if (value !== undefined && value !== before[field]) throw invalidValue(field, String(before[field]));
  }
}
