/**
 * The edge API's server: OpenZiti's client API at the root and below `/edge/client/v1`, and the routes that others add, all
 * over TLS that requests a client certificate. It wires the routes, which contain the rules.
 */
import { randomBytes } from 'node:crypto';
import type { AddressInfo, Socket } from 'node:net';
import type { Server } from 'node:https';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { addressKey, FrontdoorError, messageOf, type Log } from '#base';
import { edgeSpelling } from '#domain';
import { failAlone, UnprovenConnections, type UnprovenLimits } from '#net';
import {
  BodyIntake,
  BodyRefusal,
  continueWhenRead,
  createApiServer,
  WebSocketUpgrades,
  type ApiServerLimits,
} from '#net/http';
import { RefusalRecorder } from '../../audit/mod.ts';
import { isPasswordSuspect } from '../../credentials/passwords/mod.ts';
import {
  addBodySteps,
  tokenOf,
  recordEdgeRefusal,
  EdgeApiRefusal,
  refusalBody,
  sendRefusal,
  unknownPath,
  wrongMethod,
} from '../../overlay/clients/mod.ts';
import { addAuthenticatorRoutes } from './authenticator-routes.ts';
import type { EdgeContext } from './edge-context.ts';
import { makeEdgeContext, type EdgeParts, type EdgeRates, type MadeEdgeContext } from './edge-parts.ts';
import { addEnrollRoutes } from './enroll-routes.ts';
import { addIdentityRoutes } from './identity-routes.ts';
import { addInformationRoutes, EDGE_PATH } from './information-routes.ts';
import { addOidcRoutes } from './oidc-routes.ts';
import { SecondTokenStep } from './partial-opening.ts';
import { addTotpRoutes } from './totp-routes.ts';
import { RouteMethods } from './route-methods.ts';
import { ServiceChanges } from './service-changes.ts';
import { addServiceRoutes } from './service-routes.ts';
import { addServiceSessionRoutes } from './service-session-routes.ts';
import { addSessionCertificateRoutes } from './session-certificate-routes.ts';
import { addPostureRoutes } from './posture-routes.ts';
import { addSessionRoutes } from './session-routes.ts';

const EDGE_PREFIXES = ['', EDGE_PATH];
const MAX_QUOTED_PATH_CHARS = 200;
const MAX_WEB_SOCKET_MESSAGE_BYTES = 65_536;

export interface EdgeApiOptions extends EdgeParts {
  readonly server?: EdgeServerOptions;
}

export interface EdgeServerOptions {
  readonly limits?: EdgeApiLimits | undefined;
  /** Reads bodies, shared with the other APIs of the process, so that one budget applies to all. */
  readonly intake?: BodyIntake | undefined;
  /** Follows the requests of the server. */
  readonly onServer?: ((server: Server) => void) | undefined;
  /** Adds the edge management API. */
  readonly managementRoutes?: EdgeRoutes | undefined;
  /** Adds the routes of agents and gateways. */
  readonly machineRoutes?: MachineRoutes | undefined;
}

/** Returns the streams that must end before the server closes. `instanceId` is new at each start. */
export type MachineRoutes = (
  app: FastifyInstance,
  context: EdgeContext,
  instanceId: string,
) => { close(): void };

/** Some of the routes can be for WebSockets. */
export type EdgeRoutes = (
  app: FastifyInstance,
  context: EdgeContext,
  webSockets: WebSocketUpgrades,
) => Promise<void>;

export interface EdgeApiLimits extends ApiServerLimits, UnprovenLimits, EdgeRates {}

export interface EdgeApi {
  /** Listens. Throws if the address is taken. */
  listen(address: { host: string; port: number }): Promise<AddressInfo>;
  /** Takes a connection that another port accepted, before TLS. */
  accept(socket: Socket): void;
  /** New at each start, and part of every response. Also the epoch of the gateways' feed. */
  readonly instanceId: string;
  close(): Promise<void>;
}

export async function createEdgeApi(options: EdgeApiOptions): Promise<EdgeApi> {
  const { base, server: { limits = {}, intake = new BodyIntake(), onServer } = {} } = options;
  const instanceId = randomBytes(12).toString('base64url');
  const connections = new UnprovenConnections({ ...limits, isSuspect: isPasswordSuspect }, base.log);
  const webSockets = new WebSocketUpgrades(MAX_WEB_SOCKET_MESSAGE_BYTES);
  const made = makeEdgeContext(options, connections, limits);
  const { context } = made;
  const { app, server } = makeServer(options, instanceId, webSockets);
  const methods = new RouteMethods();
  app.addHook('onRoute', ({ url, method }) => methods.add(url, [method].flat()));
  continueWhenRead(server);
  onServer?.(server);
  connections.follow(server);
  server.on('secureConnection', (socket) => {
    if (!('problem' in context.callers.peers.of(socket))) connections.prove(socket);
  });
  addBodySteps(app, context.callers, intake);
  addRequestSteps(app, made, instanceId);
  const refusals = new RefusalRecorder(base);
  answerErrors(app, context, refusals, instanceId);
  app.setNotFoundHandler((request, reply) => sendRefusal(reply, notServed(request, reply, methods)));
  await addClientRoutes(app, context, methods, options.server?.managementRoutes !== undefined);
  await options.server?.managementRoutes?.(app, context, webSockets);
  const streams = options.server?.machineRoutes?.(app, context, instanceId);
  await app.ready();
  return {
    instanceId,
    async listen({ host, port }) {
      await app.listen({ host, port });
      return server.address() as AddressInfo;
    },
    accept: (socket) => void server.emit('connection', socket),
    async close() {
      streams?.close();
      await app.close();
      await made.close();
      await refusals.close();
    },
  };
}

function makeServer(
  { base, pki, server: { limits = {} } = {} }: EdgeApiOptions,
  instanceId: string,
  webSockets: WebSocketUpgrades,
): { readonly app: FastifyInstance; readonly server: Server } {
  let server!: Server;
  const app = fastify({
    serverFactory(handler) {
      server = createApiServer(pki.edgeServer, handler, base.log, limits, webSockets.takes);
      webSockets.follow(server, handler);
      return server;
    },
    forceCloseConnections: true,
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) =>
      void answerRefusal(refusalOf(error, base.log, request.ip), reply as FastifyReply, instanceId),
    clientErrorHandler: (error, socket) => {
      if (socket.destroyed || !socket.writable) return;
      const status = (error as { code?: string }).code === 'HPE_HEADER_OVERFLOW' ? 431 : 400;
      socket.end(rawRefusal(status, instanceId));
    },
    routerOptions: {
      maxParamLength: 512,
      ignoreTrailingSlash: true,
      querystringParser: (text) => new URLSearchParams(text) as unknown as Record<string, unknown>,
    },
  }) as unknown as FastifyInstance;
  pki.onServerRenewed(() => {
    const { keyPem, certPem } = pki.edgeServer;
    server.setSecureContext({ key: keyPem, cert: certPem });
  });
  return { app, server };
}

/** What precedes and follows every request. */
function addRequestSteps(
  app: FastifyInstance,
  { context, tokenLimit }: MadeEdgeContext,
  instanceId: string,
): void {
  const { callers, edgeTokens, signIn, pki, store, log } = context;
  app.addHook('onRequest', (_request, reply, done) => {
    // OpenZiti's C SDK reads this header of every response without checking for it.
    void reply.header('ziti-instance-id', instanceId);
    void reply.header('frontdoor-authorities', pki.authoritiesMark);
    done();
  });
  if (store.isShared) {
    app.addHook('onRequest', async (request) => {
      const token = tokenOf(request);
      const isKnown = token === '' || signIn.sessions.byToken(token) !== undefined;
      if (isKnown) return;
      // It costs queries: for peers with a certificate of Frontdoor, for signed tokens of Frontdoor, and for few guesses.
      const isProven =
        !('problem' in callers.peers.of(request.raw.socket)) ||
        edgeTokens.sessionTokens.verifyAccess(token) !== undefined;
      if (!isProven && tokenLimit.take(addressKey(request.ip)) > 0) return;
      await signIn.sessions.find(token);
    });
  }
  const secondTokenStep = new SecondTokenStep(context);
  app.addHook('onRequest', (request) => secondTokenStep.take(request));
  app.addHook('onResponse', (request, reply, done) => {
    // Logs the route's pattern, not the URL, because queries contain one-time tokens.
    const fields = { method: request.method, route: request.routeOptions.url, status: reply.statusCode };
    log.debug({ ...fields, ms: Math.round(reply.elapsedTime) }, 'edge API: request');
    done();
  });
}

function answerErrors(
  app: FastifyInstance,
  { callers, model, log }: EdgeContext,
  refusals: RefusalRecorder,
  instanceId: string,
): void {
  app.setErrorHandler((error, request, reply) => {
    const refusal = refusalOf(error, log, request.ip);
    recordEdgeRefusal(refusals, { peers: callers.peers, model }, request, refusal);
    return answerRefusal(refusal, reply, instanceId);
  });
}

/** For clients of OpenZiti. */
async function addClientRoutes(
  app: FastifyInstance,
  context: EdgeContext,
  methods: RouteMethods,
  hasManagement: boolean,
): Promise<void> {
  const changes = new ServiceChanges(context.model, context.clock);
  context.signIn.sessions.onPostureChanged(({ identityId }) => changes.onPostureChanged(identityId));
  for (const prefix of EDGE_PREFIXES) {
    await app.register(
      (scope, _options, done) => {
        addInformationRoutes(scope, context, { methods, hasManagement });
        addSessionRoutes(scope, { ...context, changes });
        addPostureRoutes(scope, context);
        addSessionCertificateRoutes(scope, context);
        addIdentityRoutes(scope, context);
        addAuthenticatorRoutes(scope, context);
        addTotpRoutes(scope, context);
        addServiceRoutes(scope, context);
        addServiceSessionRoutes(scope, context);
        addEnrollRoutes(scope, context);
        done();
      },
      { prefix },
    );
  }
  addOidcRoutes(app, context);
}

/** For a request that no route takes: 405 with `Allow` if its path has routes, else 404. */
function notServed(request: FastifyRequest, reply: FastifyReply, methods: RouteMethods): EdgeApiRefusal {
  const [path = ''] = request.url.split('?');
  const allowed = methods.of(path);
  if (allowed.length === 0) return unknownPath(path.slice(0, MAX_QUOTED_PATH_CHARS));
  void reply.header('allow', allowed.join(', '));
  return wrongMethod(
    request.method,
    allowed.filter((method) => method !== 'HEAD'),
  );
}

function answerRefusal(refusal: EdgeApiRefusal, reply: FastifyReply, instanceId: string): FastifyReply {
  // Requests that cannot be routed do not reach the hook.
  void reply.header('ziti-instance-id', instanceId);
  return sendRefusal(reply, refusal);
}

function refusalOf(error: unknown, log: Log, address: string): EdgeApiRefusal {
  if (error instanceof EdgeApiRefusal) return error;
  if (error instanceof BodyRefusal)
    return new EdgeApiRefusal(error.kind, edgeSpelling(error.code), error.message, error.retryAfterS);
  if (error instanceof FrontdoorError && error.kind !== 'internal') {
    return new EdgeApiRefusal(error.kind, edgeSpelling(error.code), error.message);
  }
  const status = (error as { statusCode?: number }).statusCode;
  if (status !== undefined && status >= 400 && status < 500) {
    return new EdgeApiRefusal('invalid', 'COULD_NOT_VALIDATE', 'The request cannot be read');
  }
  const id = randomBytes(6).toString('base64url');
  log.error({ errorId: id, address, error: messageOf(error), cause: error }, 'edge API: request failed');
  failAlone({ kind: 'request', id, log }, error);
  return new EdgeApiRefusal('internal', 'UNHANDLED', `An internal error occurred: ${id}`);
}

/** For data that never became a request. */
function rawRefusal(status: number, instanceId: string): string {
  const body = JSON.stringify(refusalBody('COULD_NOT_VALIDATE', 'The request cannot be read'));
  return (
    `HTTP/1.1 ${status} ${status === 431 ? 'Request Header Fields Too Large' : 'Bad Request'}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
    `ziti-instance-id: ${instanceId}\r\nConnection: close\r\n\r\n${body}`
  );
}
