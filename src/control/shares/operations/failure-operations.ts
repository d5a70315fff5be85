/**
 * Operations on failed requests by error id. A frontdoor has the failures of its own shares; administrators see
 * those of hosts without a share.
 */
import type { FailureAnswer, UnroutedFailureAnswer } from '#contract/schemas';
import { remedyOf } from '#domain';
import type { RequestTimings } from '#domain/gateway-shapes';
import {
  findFailure,
  groupFailures,
  listFailures,
  type FailureFilter,
  type StoredFailure,
} from '../records/request-record-store.ts';
import { findUnroutedFailure } from '../records/unrouted-failure-store.ts';
import { notFound } from './api-errors.ts';
import { isoTime, ok, unstored, type ApiParts, type Handlers } from './call.ts';
import { countedPageAnswer, listFilterOf, parsePageRequest, textOf, type Query } from './page-query.ts';

export const failureHandlers: Handlers<
  Pick<ApiParts, 'store'>,
  'listFailures' | 'listFailureGroups' | 'getFailure' | 'getUnroutedFailure'
> = {
  async listFailures(parts, { frontdoor, query }) {
    const request = parsePageRequest(query);
    const page = await listFailures(parts.store.db, frontdoor, request, failureFilterOf(query));
    return unstored(ok(countedPageAnswer(request, page, page.content.map(failureAnswer))));
  },

  async listFailureGroups(parts, { frontdoor, query }) {
    const request = parsePageRequest(query);
    const page = await groupFailures(parts.store.db, frontdoor, request, failureFilterOf(query));
    const content = page.content.map(({ count, shares, firstAt, lastAt, latest }) => ({
      code: latest.code,
      hop: latest.hop,
      count,
      shares,
      firstAt: isoTime(firstAt),
      lastAt: isoTime(lastAt),
      cause: latest.cause,
      remedy: remedyOf(latest.code),
      status: latest.status,
      errorId: latest.id,
      shareToken: latest.shareToken,
    }));
    return unstored(ok(countedPageAnswer(request, page, content)));
  },

  async getFailure(parts, { frontdoor, parameters }) {
    const { errorId: id } = parameters;
    const found = await findFailure(parts.store.db, frontdoor, id);
    if (found === undefined) throw notFound('Failure', id);
    return unstored(ok(failureAnswer(found)));
  },

  async getUnroutedFailure(parts, { parameters }) {
    const { errorId: id } = parameters;
    const found = await findUnroutedFailure(parts.store.db, id);
    if (found === undefined) throw notFound('Failure', id);
    const { gatewayId, gatewayName, code, hop, cause, at, method, host, path, client, status, traceId } =
      found;
    const answer: UnroutedFailureAnswer = {
      errorId: id,
      gatewayId,
      gatewayName,
      code,
      hop,
      cause,
      remedy: remedyOf(code),
      at: isoTime(at),
      method,
      host,
      path,
      client,
      status,
      traceId,
      timingsMs: timingsAnswer(found.timings),
    };
    return unstored(ok(answer));
  },
};

function failureFilterOf(query: Query): FailureFilter {
  return {
    ...listFilterOf(query),
    shareToken: textOf(query, 'shareToken'),
    code: textOf(query, 'code'),
    hop: textOf(query, 'hop'),
  };
}

function failureAnswer(failure: StoredFailure): FailureAnswer {
  const { code, hop, cause, method, host, path, client, identity, decision, status, traceId } = failure;
  return {
    errorId: failure.id,
    shareToken: failure.shareToken,
    code,
    hop,
    cause,
    remedy: remedyOf(code),
    at: isoTime(failure.at),
    method,
    host,
    path,
    client,
    identity,
    decision,
    status,
    traceId,
    timingsMs: timingsAnswer(failure.timings),
  };
}

export function timingsAnswer(timings: RequestTimings) {
  const { decidedMs, circuitMs, firstByteMs, doneMs } = timings;
  return { decided: decidedMs, circuit: circuitMs, firstByte: firstByteMs, done: doneMs };
}
