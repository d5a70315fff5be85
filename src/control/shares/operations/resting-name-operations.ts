/** Operations on resting names: administrators list and release them. */
import type { RestingNameAnswer } from '#contract/schemas';
import { listRestingNames, releaseRestingName, type RestingName } from '../records/resting-name-store.ts';
import { notFound } from './api-errors.ts';
import { change, gone, isoTime, ok, type ChangeParts, type Handlers } from './call.ts';
import { countedPageAnswer, parsePageRequest, textOf } from './page-query.ts';

export const restingNameHandlers: Handlers<ChangeParts, 'listRestingNames' | 'releaseRestingName'> = {
  async listRestingNames(parts, call) {
    const request = parsePageRequest(call.query);
    const organizationId = textOf(call.query, 'organizationId');
    const page = await listRestingNames(parts.store.db, request, organizationId, parts.clock.nowMs());
    return ok(countedPageAnswer(request, page, page.content.map(answerOf)));
  },

  async releaseRestingName(parts, call) {
    const { name } = call.parameters;
    await change(parts, call, async (trx) => {
      const before = await releaseRestingName(trx, name, parts.clock.nowMs());
      if (before === undefined) throw notFound('Resting name', name);
      return {
        result: undefined,
        target: { kind: 'resting-name', id: before.name },
        before: answerOf(before),
        organizationId: before.organizationId,
      };
    });
    return gone;
  },
};

function answerOf({ name, kind, organizationId, createdAtMs, expiresAtMs }: RestingName): RestingNameAnswer {
  return { name, kind, organizationId, createdAt: isoTime(createdAtMs), expiresAt: isoTime(expiresAtMs) };
}
