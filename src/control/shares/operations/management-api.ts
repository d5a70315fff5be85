/**
 * The Management API and the token issuer as one HTTP server. Every request passes the same steps in order:
 * limits, route and method, form of the header, credential, scope, form of the ids, the frontdoor, the query,
 * media type, body. The contract defines the operations, and handlers implement them.
 */
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { FrontdoorError, type Log } from '#base';
import { invalidValue } from '#domain';
import { forwardedAddresses, isTrustedProxy } from '#domain/proxies';
import { UnprovenConnections } from '#net';
import { BodyIntake, checkStatedLength, continueWhenRead } from '#net/http';
import { RefusalRecorder } from '../../audit/mod.ts';
import { isPasswordSuspect } from '../../credentials/passwords/mod.ts';
import { allowedMethods } from './allowed-methods.ts';
import { noSuchPath, notJson } from './api-errors.ts';
import { openApiParts } from './api-parts.ts';
import { followHandshakes, transportOf, type ApiTls } from './api-tls.ts';
import { breakOffBackup } from './backup-operation.ts';
import { checkConsolePath } from './console-access.ts';
import { defaultApiLimits, MAX_BODY_BYTES, type ApiLimits } from './limits.ts';
import type { ManagementApiOptions } from './management-api-options.ts';
import {
  addConsolePages,
  addOperationRoutes,
  answerRefusal,
  send,
  type ApiServing,
  type RouteConfig,
} from './operation-routes.ts';
import { handleRawFailures } from './raw-failures.ts';
import { recordRefusal } from './refusal-audit.ts';
import { MisdirectedRequest, RequestGate } from './request-gate.ts';

const FORWARDED = 'x-forwarded-for';

/** Returns a server that does not listen yet. Rejects with errors of the store. */
export async function createManagementApi(options: ManagementApiOptions): Promise<FastifyInstance> {
  const { store, secrets, clock, log } = options;
  const limits = { ...defaultApiLimits, ...options.limits };
  const parts = await openApiParts(options, limits);
  const refusals = new RefusalRecorder({ store, secrets, clock, log });
  const browserConsole = options.console?.({
    access: parts.access,
    failures: parts.loginFailures,
    refusals,
    issuers: parts.issuers,
  });
  const isProxy = (address: string): boolean => isTrustedProxy(options.trustedProxies ?? [], address);
  const app = makeServer(options.tls, limits, isProxy, log);
  app.addHook('preClose', async () => {
    breakOffBackup(store);
    parts.auditFollowers.close();
    parts.changeFollowers.close();
  });
  app.addHook('onClose', async () => {
    await refusals.close();
    await parts.callerUses.close();
  });
  const connections = new UnprovenConnections({ ...limits, isSuspect: isPasswordSuspect, isProxy }, log);
  connections.follow(app.server);
  const serving: ApiServing = {
    parts,
    gate: new RequestGate(parts, limits, browserConsole),
    intake: options.intake ?? new BodyIntake(),
    connections,
    refusals,
    console: browserConsole,
    prefix: options.pathPrefix ?? '',
  };
  refuseUnreadBodies(app, serving);
  answerErrors(app, serving, log);
  addOperationRoutes(app, serving);
  addConsolePages(app, serving);
  return app;
}

/** The server with what needs no part: transport, limits, and the addresses of clients behind proxies. */
function makeServer(
  tls: ApiTls | undefined,
  limits: ApiLimits,
  isProxy: (address: string) => boolean,
  log: Log,
): FastifyInstance {
  const app = fastify({
    logger: false,
    return503OnClosing: false,
    ...transportOf(tls, limits),
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
  handleRawFailures(app, log);
  followHandshakes(app, log);
  app.server.maxConnections = limits.maxConnections;
  continueWhenRead(app.server);
  return app;
}

/** Operations read bodies after all other steps, so the framework must not. */
function refuseUnreadBodies(app: FastifyInstance, { intake, gate }: ApiServing): void {
  app.addHook('onSend', (request, reply, _payload, done) => {
    intake.endIfUnread(request.raw, reply.raw, gate.provenCaller(request) !== undefined);
    done();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
}

function answerErrors(app: FastifyInstance, serving: ApiServing, log: Log): void {
  const { prefix, gate, refusals } = serving;
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof MisdirectedRequest)
      return send(reply, { status: 421, body: { error: 'misdirected', message: error.message } });
    const route = String(request.routeOptions.url ?? 'route');
    const refusal = answerRefusal(reply, ownErrorOf(error, request, reply, prefix), route, log);
    const { operation } = request.routeOptions.config as RouteConfig;
    if (operation !== undefined)
      recordRefusal(refusals, operation, request, gate.provenCaller(request), refusal, error);
  });
  app.setNotFoundHandler((request, reply) => {
    if (request.method === 'OPTIONS') {
      const methods = allowedMethods(request.url, prefix);
      if (methods.length > 0) return send(reply, { status: 204, headers: { allow: methods.join(', ') } });
    }
    checkConsolePath(request.url, prefix, serving.console !== undefined);
    throw noSuchOperation(request, reply, prefix);
  });
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
