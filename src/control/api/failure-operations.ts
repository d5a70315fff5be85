/** Operations on failed requests: why one failed, by the error id on its page. Of another organization there are none. */
import type { FailureAnswer } from '#contract';
import { remedyOf, type RequestTimings } from '#domain';
import { findFailure, listFailures, type ToldFailure } from '../store/request-record-store.ts';
import { notFound } from './api-errors.ts';
import { isoTime, ok, unstored, type Handlers } from './call.ts';
import { countedPageAnswer, listFilterOf, parsePageRequest, textOf } from './page-query.ts';

export const failureHandlers: Handlers<'listFailures' | 'getFailure'> = {
  async listFailures(parts, { frontdoor, query }) {
    const request = parsePageRequest(query);
    const token = textOf(query, 'shareToken');
    const page = await listFailures(parts.store.db, frontdoor, request, token, listFilterOf(query));
    return unstored(ok(countedPageAnswer(request, page, page.content.map(failureAnswer))));
  },

  async getFailure(parts, { frontdoor, parameters }) {
    const id = parameters['errorId']!;
    const found = await findFailure(parts.store.db, frontdoor, id);
    if (found === undefined) throw notFound('Failure', id);
    return unstored(ok(failureAnswer(found)));
  },
};

function failureAnswer(told: ToldFailure): FailureAnswer {
  const { code, hop, cause, method, host, path, client, identity, decision, status, traceId } = told;
  return {
    errorId: told.id,
    shareToken: told.shareToken,
    ...{ code, hop, cause },
    remedy: remedyOf(code),
    at: isoTime(told.at),
    ...{ method, host, path, client, identity, decision, status, traceId },
    timingsMs: timingsAnswer(told.timings),
  };
}

export function timingsAnswer(timings: RequestTimings) {
  const { decidedMs, circuitMs, firstByteMs, doneMs } = timings;
  return { decided: decidedMs, circuit: circuitMs, firstByte: firstByteMs, done: doneMs };
}
