/**
 * The Management API and the token issuer as one HTTP server. Every request passes the same steps in order:
 * limits, route and method, form of the header, credential, scope, form of the ids, the frontdoor, the query,
 * media type, body. The contract defines the operations, and handlers implement them.
 */
import type { IncomingMessage } from 'node:http';
import { constants } from 'node:crypto';
import type { ServerOptions } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { FrontdoorError, messageOf, type Log } from '#base';
import type { Operation } from '#contract';
import { forwardedAddresses, invalidValue, isTrustedProxy, type IpNetwork } from '#domain';
import {
  BodyIntake,
  checkStatedLength,
  continueWhenRead,
  endUnfinishedHandshakes,
  TLS_CIPHERS,
  TLS_MIN_VERSION,
  UnprovenConnections,
} from '#net';
import { AuditFollowers, RefusalRecorder } from '../audit/mod.ts';
import { ChangeFollowers } from '../event-stream/mod.ts';
import { audienceOf, CLOCK_SKEW_MS, LoginFailures, TokenKeys, type TokenPolicy } from '../oauth/mod.ts';
import { openIdentityKeys } from '../login/mod.ts';
import { isPasswordSuspect } from '../policy/mod.ts';
import { AccessDirectory, LastUses, writeCallerUses } from '../store/mod.ts';
import { allowedMethods, hasHead } from './allowed-methods.ts';
import { noSuchPath, notJson, refusalOf, type ApiRefusal } from './api-errors.ts';
import { bodyOf } from './body-reader.ts';
import { bodyStepOf } from './body-step.ts';
import type { ApiAnswer, ApiParts, Call } from './call.ts';
import { checkConsolePath, CONSOLE_BUILD_HEADER, type OpenConsole } from './console-access.ts';
import { conditionalAnswer, checkConditionHeaders } from './conditional-answer.ts';
import { defaultApiLimits, MAX_BODY_BYTES, type ApiLimits } from './limits.ts';
import type { Query } from './page-query.ts';
import { checkedOperations, handlerOf, type CheckedOperation } from './operation-handlers.ts';
import { handleRawFailures, httpOptions } from './raw-failures.ts';
import { recordRefusal } from './refusal-audit.ts';
import { MisdirectedRequest, RequestGate, type AdmittedRequest, type ApiDoor } from './request-gate.ts';
import { breakOffBackup } from './backup-operation.ts';
import { auditJson } from './audit-operations.ts';

/** The dependencies of operations that the API makes itself. */
type OwnParts =
  | 'keys'
  | 'originKeys'
  | 'access'
  | 'loginFailures'
  | 'callerUses'
  | 'auditFollowers'
  | 'changeFollowers'
  | 'tokenPolicy'
  | 'agentEnrollmentTtlMs'
  | 'fabricEnrollmentTtlMs';

export interface ManagementApiOptions extends Omit<ApiParts, OwnParts> {
  /** {auth_url}: the issuer of bearer tokens, which this server serves too. */
  readonly authUrl: () => string;
  /** {base_url} of other control planes over the same database. */
  readonly peerUrls?: (() => readonly string[]) | undefined;
  /** Path of {base_url} and {auth_url} at this server; '' if there is none. */
  readonly pathPrefix?: string | undefined;
  readonly limits?: Partial<ApiLimits> | undefined;
  /** Their `X-Forwarded-For` names the client, and their connections do not count. */
  readonly trustedProxies?: readonly IpNetwork[] | undefined;
  /** Serves the console below `/console`. */
  readonly console?: OpenConsole | undefined;
  /** Reads bodies, shared with the other APIs of the process, so that one budget applies to all. */
  readonly intake?: BodyIntake | undefined;
  readonly agentEnrollmentTtlMs?: number | undefined;
  readonly fabricEnrollmentTtlMs?: number | undefined;
  /** Without it, the API uses plain HTTP. */
  readonly tls?: ApiTls | undefined;
}

/** PEM. */
export interface ApiTls {
  readonly cert: string;
  readonly key: string;
}

/** No cache keeps for others what a cookie opened: to caches, that is no credential (RFC 9111 §3.5). */
const OF_ONE_BROWSER = [
  ['cache-control', 'private, no-cache'],
  ['x-content-type-options', 'nosniff'],
] as const;
const FORWARDED = 'x-forwarded-for';
const AGENT_ENROLLMENT_TTL_MS = 15 * 60_000;
const FABRIC_ENROLLMENT_TTL_MS = 24 * 3_600_000;

/** Returns a server that does not listen yet. Rejects with errors of the store. */
export async function createManagementApi(options: ManagementApiOptions): Promise<FastifyInstance> {
  const { store, secrets, clock, log } = options;
  const limits = { ...defaultApiLimits, ...options.limits };
  // Subscribes to changes first, so that later listeners can query it at once.
  const access = new AccessDirectory(store);
  const keys = await TokenKeys.load(store, secrets, clock);
  const originKeys = await openIdentityKeys({ store, secrets, clock });
  const callerUses = new LastUses({
    ...{ clock, log, what: 'last uses of API accounts and OAuth clients' },
    write: (uses) => writeCallerUses(store.db, uses),
  });
  const auditFollowers = new AuditFollowers({ store, log, jsonOf: auditJson });
  const { model, status } = options;
  const changeFollowers = new ChangeFollowers({ store, log, model, status });
  const parts: ApiParts = {
    ...options,
    keys,
    originKeys,
    access,
    callerUses,
    loginFailures: new LoginFailures(limits.failedLogins, clock),
    auditFollowers,
    changeFollowers,
    agentEnrollmentTtlMs: options.agentEnrollmentTtlMs ?? AGENT_ENROLLMENT_TTL_MS,
    fabricEnrollmentTtlMs: options.fabricEnrollmentTtlMs ?? FABRIC_ENROLLMENT_TTL_MS,
    tokenPolicy: (): TokenPolicy => ({
      issuer: options.authUrl(),
      audience: audienceOf(options.baseUrl()),
      peers: options.peerUrls?.() ?? [],
      algorithms: ['ES256'],
      type: 'at+jwt',
      clockSkewMs: CLOCK_SKEW_MS,
    }),
  };
  const refusals = new RefusalRecorder({ store, secrets, clock, log });
  const browserConsole = options.console?.({
    access,
    failures: parts.loginFailures,
    refusals,
    issuers: parts.issuers,
  });
  const gate = new RequestGate(parts, limits, browserConsole);
  const prefix = options.pathPrefix ?? '';
  const isProxy = (address: string): boolean => isTrustedProxy(options.trustedProxies ?? [], address);
  const app = fastify({
    logger: false,
    return503OnClosing: false,
    ...transportOf(options.tls, limits),
    trustProxy: isProxy,
    // The framework would replace the server's own value by none.
    requestTimeout: limits.requestTimeoutMs,
    routerOptions: { maxParamLength: 4_096, ignoreTrailingSlash: false, caseSensitive: true },
    frameworkErrors: (_error, _request, reply) => {
      answerRefusal(reply, invalidValue('path', 'uri'), 'route', log);
    },
  });
  app.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request.raw;
    const forwarded = headers[FORWARDED];
    if (forwarded !== undefined) headers[FORWARDED] = forwardedAddresses(String(forwarded)).join(', ');
    done();
  });
  app.addHook('preClose', async () => {
    breakOffBackup(store);
    auditFollowers.close();
    changeFollowers.close();
  });
  app.addHook('onClose', async () => {
    await refusals.close();
    await callerUses.close();
  });
  handleRawFailures(app, log);
  if (app.server instanceof HttpsServer) endUnfinishedHandshakes(app.server, log);
  app.server.maxConnections = limits.maxConnections;
  continueWhenRead(app.server);
  const connections = new UnprovenConnections({ ...limits, isSuspect: isPasswordSuspect, isProxy }, log);
  connections.follow(app.server);
  const intake = options.intake ?? new BodyIntake();
  app.addHook('onSend', (request, reply, _payload, done) => {
    intake.endIfUnread(request.raw, reply.raw, gate.provenCaller(request) !== undefined);
    done();
  });
  app.removeAllContentTypeParsers();
  // Operations read bodies after all other steps, so the framework must not.
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof MisdirectedRequest)
      return send(reply, { status: 421, body: { error: 'misdirected', message: error.message } });
    const route = String(request.routeOptions.url ?? 'route');
    const refusal = answerRefusal(reply, ownErrorOf(error, request, reply, prefix), route, log);
    const { operation } = request.routeOptions.config as RouteConfig;
    if (operation !== undefined)
      recordRefusal(refusals, operation, request, gate.provenCaller(request), refusal, error);
  });
  const admissions = new WeakMap<FastifyRequest, AdmittedRequest>();
  const addRoute = (operation: CheckedOperation, base: string, door: ApiDoor): void => {
    const readCheckedBody = bodyStepOf(operation);
    app.route({
      method: operation.method,
      // The console sends none, and each route takes time at the start.
      exposeHeadRoute: door === 'credential' && hasHead(operation),
      url: base + operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      config: { operation } satisfies RouteConfig,
      onRequest: async (request, reply) => {
        if (door === 'session') for (const [name, value] of OF_ONE_BROWSER) reply.header(name, value);
        const build = door === 'session' ? browserConsole?.build() : undefined;
        if (build !== undefined) reply.header(CONSOLE_BUILD_HEADER, build);
        const admission = await gate.admit(operation, request, door);
        admissions.set(request, admission);
        if (admission.principal !== undefined) connections.prove(request.raw.socket);
      },
      handler: async (request, reply) => {
        const admission = admissions.get(request)!;
        const readBody = bodyOf(intake, request.raw, reply.raw, {
          peer: admission.principal?.id,
          address: request.ip,
        });
        const body = await readCheckedBody(request.raw, readBody);
        checkConditionHeaders(operation, request.raw);
        // The body step has checked the body against the schema that the handler's type is inferred from.
        const handle = handlerOf(operation.id);
        const given = await handle(parts, callOf(operation, request, admission, { body, readBody }));
        const answer = conditionalAnswer(parts, operation, request.raw, given);
        if (answer.status >= 400) {
          const body = answer.body as ApiRefusal['body'];
          recordRefusal(refusals, operation, request, undefined, { status: answer.status, body });
        }
        return send(reply, answer);
      },
    });
  };
  for (const operation of checkedOperations()) addRoute(operation, prefix, 'credential');
  if (browserConsole !== undefined) {
    const readBody = (request: FastifyRequest, reply: FastifyReply) =>
      bodyOf(intake, request.raw, reply.raw, { peer: undefined, address: request.ip, isBrief: true })();
    for (const operation of checkedOperations())
      if (operation.scope !== undefined) addRoute(operation, `${prefix}/console/api`, 'session');
    const hold = (request: IncomingMessage) => connections.hold(request.socket);
    browserConsole.addRoutes(app, { pathPrefix: prefix, readBody, hold });
  }
  app.setNotFoundHandler((request, reply) => {
    if (request.method === 'OPTIONS') {
      const methods = allowedMethods(request.url, prefix);
      if (methods.length > 0) return send(reply, { status: 204, headers: { allow: methods.join(', ') } });
    }
    checkConsolePath(request.url, prefix, browserConsole !== undefined);
    throw noSuchOperation(request, reply, prefix);
  });
  return app;
}

/** The framework's own refusals come first. Of its checks, two can fail here. */
function ownErrorOf(error: unknown, request: FastifyRequest, reply: FastifyReply, prefix: string): unknown {
  const { statusCode, code } = error as { readonly statusCode?: unknown; readonly code?: unknown };
  if (statusCode === 415) return notJson();
  // The framework requires one for the method QUERY, which no operation has.
  return code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE' ? noSuchOperation(request, reply, prefix) : error;
}

/** Sets `Allow` if only the method is wrong. Throws the refusal of a body that is too large, which has precedence. */
function noSuchOperation(request: FastifyRequest, reply: FastifyReply, prefix: string): FrontdoorError {
  checkStatedLength(request.raw, MAX_BODY_BYTES);
  const methods = allowedMethods(request.url, prefix);
  if (methods.length === 0) return noSuchPath();
  const named = methods.join(', ');
  reply.header('allow', named);
  return new FrontdoorError('wrongMethod', 'method-not-allowed', `Method must be one of ${named}`);
}

/** The server's options. The type is that of plain HTTP in both cases, because routes see no difference. */
function transportOf(tls: ApiTls | undefined, limits: ApiLimits): { http: ServerOptions } {
  const http = httpOptions(limits);
  if (tls === undefined) return { http };
  const https = { ...http, ...contextOf(tls), handshakeTimeout: limits.headTimeoutMs };
  return { https } as unknown as { http: ServerOptions };
}

/** Applies to new connections. Throws `invalid` and keeps the former pair if the new one does not work. */
export function setApiTls(app: FastifyInstance, tls: ApiTls): void {
  const context = contextOf(tls);
  if (app.server instanceof HttpsServer) app.server.setSecureContext(context);
}

function contextOf(tls: ApiTls): SecureContextOptions {
  try {
    createSecureContext(tls);
  } catch (cause) {
    const message = `the certificate and key of the Management API do not work: ${messageOf(cause)}`;
    throw new FrontdoorError('invalid', 'tls-files', message, { cause });
  }
  return {
    ...tls,
    minVersion: TLS_MIN_VERSION,
    ciphers: TLS_CIPHERS,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  };
}

interface RouteConfig {
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

function send(reply: FastifyReply, answer: ApiAnswer): FastifyReply {
  reply.code(answer.status);
  for (const [name, value] of Object.entries(answer.headers ?? {})) reply.header(name, value);
  if (answer.raw !== undefined) return reply.type(answer.raw.contentType).send(answer.raw.data);
  return answer.body === undefined ? reply.send() : reply.send(answer.body);
}

function answerRefusal(reply: FastifyReply, error: unknown, operation: string, log: Log): ApiRefusal {
  const refusal = refusalOf(error, operation, log);
  void send(reply, refusal);
  return refusal;
}
