/** The routes of the operations: each admits the request, reads its body, and sends the answer of its handler. */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '#base';
import type { Operation } from '#contract';
import type { UnprovenConnections } from '#net';
import type { BodyIntake } from '#net/http';
import type { RefusalRecorder } from '../../audit/mod.ts';
import { hasHead } from './allowed-methods.ts';
import { grantFrontdoor } from '../records/frontdoor-store.ts';
import { refusalOf, type ApiRefusal } from './api-errors.ts';
import { bodyOf } from './body-reader.ts';
import { bodyStepOf } from './body-step.ts';
import type { ApiAnswer, ApiParts, Call } from './call.ts';
import { checkConditionHeaders, conditionalAnswer } from './conditional-answer.ts';
import { CHANGE_POSITION_HEADER, CONSOLE_BUILD_HEADER, type Console } from './console-access.ts';
import { checkedOperations, handlerOf, type CheckedOperation } from './operation-handlers.ts';
import type { Query } from './page-query.ts';
import { callbackUrlsOf } from './provider-check-operations.ts';
import { recordRefusal } from './refusal-audit.ts';
import type { AdmittedRequest, ApiDoor, RequestGate } from './request-gate.ts';

/** What the routes of one Management API share. */
export interface ApiServing {
  readonly parts: ApiParts;
  readonly gate: RequestGate;
  readonly intake: BodyIntake;
  readonly connections: UnprovenConnections;
  readonly refusals: RefusalRecorder;
  /** Undefined if the console is not served. */
  readonly console: Console | undefined;
  /** Path of {base_url} at this server; '' if there is none. */
  readonly prefix: string;
}

/** No cache keeps for others what a cookie opened: to caches, that is no credential (RFC 9111 §3.5). */
const OF_ONE_BROWSER = [
  ['cache-control', 'private, no-cache'],
  ['x-content-type-options', 'nosniff'],
] as const;

export function addOperationRoutes(app: FastifyInstance, serving: ApiServing): void {
  const { prefix, console: browserConsole } = serving;
  const admissions: Admissions = new WeakMap();
  for (const operation of checkedOperations()) {
    const url = prefix + pathOf(operation);
    addRoute(app, serving, admissions, { operation, url, door: 'credential' });
  }
  if (browserConsole === undefined) return;
  for (const operation of checkedOperations()) {
    if (operation.scope === undefined) continue;
    const url = `${prefix}/console/api${pathOf(operation)}`;
    addRoute(app, serving, admissions, { operation, url, door: 'session' });
  }
}

/** Adds the pages of the console. */
export function addConsolePages(app: FastifyInstance, serving: ApiServing): void {
  const { prefix: pathPrefix, intake, connections, parts } = serving;
  const readBody = (request: FastifyRequest, reply: FastifyReply) =>
    bodyOf(intake, request.raw, reply.raw, { peer: undefined, address: request.ip, isBrief: true })();
  const hold = (request: IncomingMessage) => connections.hold(request.socket);
  const callbackUrls = async (organizationId: string, frontdoorId: string, providerId: string) => {
    const frontdoor = await grantFrontdoor(parts.store.db, organizationId, frontdoorId);
    return frontdoor === undefined ? [] : callbackUrlsOf(parts, frontdoor, providerId);
  };
  serving.console?.addRoutes(app, { pathPrefix, readBody, hold, callbackUrls });
}

interface OperationRoute {
  readonly operation: CheckedOperation;
  readonly url: string;
  readonly door: ApiDoor;
}

type Admissions = WeakMap<FastifyRequest, AdmittedRequest>;

function pathOf(operation: Operation): string {
  return operation.path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function addRoute(
  app: FastifyInstance,
  serving: ApiServing,
  admissions: Admissions,
  { operation, url, door }: OperationRoute,
): void {
  const { gate, connections, console: browserConsole, parts } = serving;
  const readCheckedBody = bodyStepOf(operation);
  app.route({
    method: operation.method,
    // The console sends none, and each route takes time at the start.
    exposeHeadRoute: door === 'credential' && hasHead(operation),
    url,
    config: { operation } satisfies RouteConfig,
    onRequest: async (request, reply) => {
      if (door === 'session') {
        for (const [name, value] of OF_ONE_BROWSER) reply.header(name, value);
        reply.header(CHANGE_POSITION_HEADER, parts.changeFollowers.position);
      }
      const build = door === 'session' ? browserConsole?.build() : undefined;
      if (build !== undefined) reply.header(CONSOLE_BUILD_HEADER, build);
      const admission = await gate.admit(operation, request, door);
      admissions.set(request, admission);
      if (admission.principal !== undefined) connections.prove(request.raw.socket);
    },
    handler: async (request, reply) => {
      const admission = admissions.get(request)!;
      const readBody = bodyOf(serving.intake, request.raw, reply.raw, {
        peer: admission.principal?.id,
        address: request.ip,
      });
      const body = await readCheckedBody(request.raw, readBody);
      checkConditionHeaders(operation, request.raw);
      const call = callOf(operation, request, admission, { body, readBody });
      return send(reply, await answerOf(serving, operation, request, call));
    },
  });
}

async function answerOf(
  { parts, refusals }: ApiServing,
  operation: CheckedOperation,
  request: FastifyRequest,
  call: Call<unknown, string>,
): Promise<ApiAnswer> {
  // The body step has checked the body against the schema that the handler's type is inferred from.
  const handle = handlerOf(operation.id);
  const answer = conditionalAnswer(parts, operation, request.raw, await handle(parts, call));
  if (answer.status >= 400) {
    const body = answer.body as ApiRefusal['body'];
    recordRefusal(refusals, operation, request, undefined, { status: answer.status, body });
  }
  return answer;
}

export interface RouteConfig {
  /** Set for routes of operations. */
  readonly operation?: Operation | undefined;
}

function callOf(
  operation: Operation,
  request: FastifyRequest,
  admission: AdmittedRequest,
  { body, readBody }: Pick<Call, 'body' | 'readBody'>,
): Call<unknown, string> {
  return {
    operation,
    address: request.ip,
    parameters: request.params as Readonly<Record<string, string>>,
    query: request.query as Query,
    body,
    readBody,
    request: request.raw,
    authorization: admission.authorization,
    proveAgain: admission.proveAgain,
    get principal() {
      if (admission.principal === undefined) throw new Error('this operation has no caller');
      return admission.principal;
    },
    get frontdoor() {
      if (admission.frontdoor === undefined) throw new Error('this operation has no frontdoor');
      return admission.frontdoor;
    },
  };
}

export function send(reply: FastifyReply, answer: ApiAnswer): FastifyReply {
  reply.code(answer.status);
  for (const [name, value] of Object.entries(answer.headers ?? {})) reply.header(name, value);
  if (answer.raw !== undefined) return reply.type(answer.raw.contentType).send(answer.raw.data);
  return answer.body === undefined ? reply.send() : reply.send(answer.body);
}

export function answerRefusal(reply: FastifyReply, error: unknown, operation: string, log: Log): ApiRefusal {
  const refusal = refusalOf(error, operation, log);
  void send(reply, refusal);
  return refusal;
}
