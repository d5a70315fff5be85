/**
 * Operations on the inspector of a share: recording, recorded requests, and replay. A replay ignores the share's
 * policy and auth providers, because its owner requests it, and is recorded in the audit trail.
 */
import { randomBytes } from 'node:crypto';
import { FrontdoorError } from '#base';
import type {
  InspectedRequestEntryAnswer,
  InspectedRequestAnswer,
  InspectorAnswer,
  InspectorReplacementBody,
  ReplayBody,
} from '#contract/schemas';
import { invalidValue } from '#domain';
import {
  MAX_INSPECTED_BODY_BYTES,
  REDACTED,
  type GatewayInspection,
  type GatewayReplay,
  type InspectedMessage,
  type InspectedRequest,
} from '#domain/gateway-shapes';
import { deleteInspected, findInspected, listInspected } from '../records/request-record-store.ts';
import { findInspection, putInspection } from '../records/share-inspection-store.ts';
import { notFound } from './api-errors.ts';
import {
  change,
  gone,
  isoTime,
  ok,
  unstored,
  type ApiParts,
  type Call,
  type ChangeParts,
  type Handlers,
} from './call.ts';
import { checkIfMatch } from './entity-tag.ts';
import { timingsAnswer } from './failure-operations.ts';
import { lockedShareId, namedShareId } from './named-share.ts';
import { countedPageAnswer, listFilterOf, parsePageRequest } from './page-query.ts';

const DEFAULT_MS = 3_600_000;
const MAX_MS = 24 * 3_600_000;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const FIELD_VALUE = /^[\t\u0020-\u007E\u0080-\u00FF]*$/;

export const inspectorHandlers: Handlers<
  ChangeParts & Pick<ApiParts, 'gatewayCommands'>,
  | 'getInspector'
  | 'setInspector'
  | 'listInspectedRequests'
  | 'deleteInspectedRequests'
  | 'getInspectedRequest'
  | 'replayInspectedRequest'
> = {
  async getInspector(parts, call) {
    const { db } = parts.store;
    const shareId = await namedShareId(db, call);
    return ok(inspectorAnswer(await findInspection(db, shareId, parts.clock.nowMs())));
  },

  async setInspector(parts, call) {
    const wanted = wantedOf(call.body, parts.clock.nowMs());
    const answer = await change(parts, call, async (trx, touch) => {
      const shareId = await lockedShareId(trx, call);
      const before = await findInspection(trx, shareId, parts.clock.nowMs());
      checkIfMatch(parts, call, inspectorAnswer(before));
      await putInspection(trx, touch, shareId, wanted);
      const result = inspectorAnswer(wanted);
      return {
        result,
        target: targetOf(call),
        before: inspectorAnswer(before),
        after: result,
      };
    });
    return ok(answer);
  },

  async listInspectedRequests(parts, call) {
    const { db } = parts.store;
    const shareId = await namedShareId(db, call);
    const request = parsePageRequest(call.query);
    const page = await listInspected(db, shareId, request, listFilterOf(call.query));
    return unstored(ok(countedPageAnswer(request, page, page.content.map(entryAnswer))));
  },

  async deleteInspectedRequests(parts, call) {
    await change(parts, call, async (trx) => {
      const requests = await deleteInspected(trx, await lockedShareId(trx, call));
      return { result: undefined, target: targetOf(call), before: { requests } };
    });
    return gone;
  },

  async getInspectedRequest(parts, call) {
    return unstored(ok(requestAnswer(await inspectedOf(parts, call))));
  },

  async replayInspectedRequest(parts, call) {
    const recorded = await inspectedOf(parts, call);
    const command = replayOf(recorded, call.body);
    // The audit event is written first, so that every replay has one.
    await change(parts, call, () =>
      Promise.resolve({
        result: undefined,
        target: targetOf(call),
        after: { id: command.id, replayOf: recorded.id, method: command.method },
      }),
    );
    if (!parts.gatewayCommands.send(command)) {
      const message = 'No gateway is connected to this control plane';
      throw new FrontdoorError('unavailable', 'no-gateway', message);
    }
    return { status: 202, body: { id: command.id } };
  },
};

function targetOf({ parameters }: Call<unknown, 'token'>) {
  return { kind: 'inspector', id: parameters.token };
}

async function inspectedOf(
  { store }: ChangeParts,
  call: Call<unknown, 'token' | 'id'>,
): Promise<InspectedRequest> {
  const shareId = await namedShareId(store.db, call);
  const { id } = call.parameters;
  const found = await findInspected(store.db, shareId, id);
  if (found === undefined) throw notFound('Request', id);
  return found;
}

function wantedOf(body: InspectorReplacementBody, nowMs: number): GatewayInspection | undefined {
  const { enabled, maxBodyBytes = 0, until } = body;
  if (!enabled) return undefined;
  const untilMs = until === undefined || until === null ? nowMs + DEFAULT_MS : Date.parse(until);
  if (!(untilMs > nowMs && untilMs <= nowMs + MAX_MS)) throw invalidValue('until', 'time within 24 hours');
  return { maxBodyBytes, untilMs };
}

function inspectorAnswer(inspection: GatewayInspection | undefined): InspectorAnswer {
  if (inspection === undefined) return { enabled: false, maxBodyBytes: 0, until: null };
  return { enabled: true, maxBodyBytes: inspection.maxBodyBytes, until: isoTime(inspection.untilMs) };
}

function commonAnswer(inspected: InspectedRequest) {
  const { id, replayOf, method, host, client, identity, decision, status, traceId, target, failure } =
    inspected;
  return {
    id,
    replayOf,
    at: isoTime(inspected.at),
    method,
    host,
    client,
    identity,
    decision,
    status,
    traceId,
    timingsMs: timingsAnswer(inspected.timings),
    target,
    failure,
  };
}

function entryAnswer(inspected: InspectedRequest): InspectedRequestEntryAnswer {
  const { request, answer } = inspected;
  return { ...commonAnswer(inspected), requestBytes: request.bodyBytes, answerBytes: answer.bodyBytes };
}

function requestAnswer(inspected: InspectedRequest): InspectedRequestAnswer {
  const message = ({ headers, body, bodyBytes, isTruncated }: InspectedMessage) => ({
    headers: headers.map(([name, value]) => ({ name, value })),
    body: body === '' ? null : body,
    bodyBytes,
    bodyIsWhole: !isTruncated,
  });
  return {
    ...commonAnswer(inspected),
    request: message(inspected.request),
    answer: message(inspected.answer),
  };
}

/** Headers whose value was not recorded are left out, unless the caller provides them. */
function replayOf(recorded: InspectedRequest, { headers = [], body }: ReplayBody): GatewayReplay {
  for (const { name, value } of headers) {
    if (!TOKEN.test(name)) throw invalidValue('headers.name', 'header name');
    if (!FIELD_VALUE.test(value)) throw invalidValue('headers.value', 'header value');
  }
  const given = new Set(headers.map(({ name }) => name.toLowerCase()));
  const kept = recorded.request.headers.filter(
    ([name, value]) => value !== REDACTED && !given.has(name.toLowerCase()),
  );
  return {
    type: 'replay',
    id: randomBytes(12).toString('hex'),
    replayOf: recorded.id,
    shareId: recorded.shareId,
    method: recorded.method,
    target: recorded.target,
    headers: [...kept, ...headers.map(({ name, value }) => [name, value] as const)],
    body: body === undefined ? recordedBody(recorded) : givenBody(body),
  };
}

function recordedBody({ request }: InspectedRequest): string {
  if (!request.isTruncated) return request.body;
  const message = 'The recorded body is not whole: give one to send in its place';
  throw new FrontdoorError('conflict', 'body-not-whole', message);
}

function givenBody(text: string): string {
  const bytes = Buffer.from(text, 'base64');
  const isBase64 = bytes.toString('base64').replaceAll('=', '') === text.replaceAll('=', '');
  if (!isBase64 || bytes.length > MAX_INSPECTED_BODY_BYTES)
    throw invalidValue('body', 'base64 of at most 64 KiB');
  return text;
}
