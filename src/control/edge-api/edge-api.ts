/**
 * The edge API's server: OpenZiti's client API at the root and below `/edge/client/v1`, and our `/agent/v1` and
 * `/gateway/v1`, all over TLS that requests a client certificate. It wires the routes, which contain the rules.
 */
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:https';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { addressKey, FrontdoorError, messageOf, TokenBuckets, type BucketRate } from '#base';
import { edgeSpelling } from '#domain';
import {
  BodyIntake,
  BodyRefusal,
  continueWhenRead,
  createApiServer,
  failAlone,
  UnprovenConnections,
  WebSocketUpgrades,
  type ApiServerLimits,
  type UnprovenLimits,
} from '#net';
import { LogInLedger, RefusalRecorder } from '../audit/mod.ts';
import { isPasswordSuspect } from '../policy/mod.ts';
import { LastUses, writeIdentityUses } from '../store/mod.ts';
import { addBodySteps } from './edge-body.ts';
import { addAuthenticatorRoutes } from './authenticator-routes.ts';
import { addAgentRoutes } from './agent-routes.ts';
import { recordEdgeRefusal } from './edge-audit.ts';
import { EdgeApiRefusal, refusalBody, sendRefusal, unknownPath, wrongMethod } from './edge-answer.ts';
import { tokenOf, type EdgeApiContext, type EdgeParts } from './edge-context.ts';
import { ClaimedIdentities } from './claimed-identities.ts';
import { ExternalIds } from './external-ids.ts';
import { ExternalSigners } from './external-signers.ts';
import { addEnrollRoutes } from './enroll-routes.ts';
import { GatewayFeed } from './gateway-feed.ts';
import { addGatewayLoginRoutes } from './gateway-login-routes.ts';
import { addGatewayRecordRoutes } from './gateway-record-routes.ts';
import { addGatewayRoutes } from './gateway-routes.ts';
import { addMetricRoutes } from './metric-routes.ts';
import { addIdentityRoutes } from './identity-routes.ts';
import { addInformationRoutes, EDGE_PATH } from './information-routes.ts';
import { addOidcRoutes } from './oidc-routes.ts';
import { PartialLogIns } from './partial-log-ins.ts';
import { SecondTokenStep } from './partial-opening.ts';
import { SecondFactors } from './second-factors.ts';
import { SecondTokens } from './second-tokens.ts';
import { addTotpRoutes } from './totp-routes.ts';
import { PasswordLogIns } from './password-log-in.ts';
import { PeerIdentities } from './peer-identity.ts';
import { ReplacedCertificates } from './replaced-certificates.ts';
import { RouteMethods } from './route-methods.ts';
import { ServiceChanges } from './service-changes.ts';
import { addServiceRoutes } from './service-routes.ts';
import { addSessionCertificateRoutes } from './session-certificate-routes.ts';
import { addPostureRoutes } from './posture-routes.ts';
import { addSessionRoutes } from './session-routes.ts';

const EDGE_PREFIXES = ['', EDGE_PATH];
const MAX_QUOTED_PATH_CHARS = 200;
const MAX_WEB_SOCKET_MESSAGE_BYTES = 65_536;

export interface EdgeApiOptions extends EdgeParts {
  readonly limits?: EdgeApiLimits | undefined;
  /** Reads bodies, shared with the other APIs of the process, so that one budget applies to all. */
  readonly intake?: BodyIntake | undefined;
  /** Follows the requests of the server. */
  readonly onServer?: ((server: Server) => void) | undefined;
  /** Adds the edge management API. */
  readonly managementRoutes?: EdgeRoutes | undefined;
}

export type EdgeRoutes = (app: FastifyInstance, context: EdgeApiContext) => Promise<void>;

export interface EdgeApiLimits extends ApiServerLimits, UnprovenLimits {
  /** Enrollments per address; 20/s, burst 200 by default. */
  readonly enroll?: BucketRate | undefined;
  /** Log-ins per identity; 20/s, burst 200 by default. */
  readonly logIn?: BucketRate | undefined;
}

export interface EdgeApi {
  /** Listens. Throws if the address is taken. */
  listen(address: { host: string; port: number }): Promise<AddressInfo>;
  /** New at each start. Also the epoch of the gateways' feed. */
  readonly instanceId: string;
  close(): Promise<void>;
}

export async function createEdgeApi(options: EdgeApiOptions): Promise<EdgeApi> {
  const { pki, model, clock, log, limits = {} } = options;
  const instanceId = randomBytes(12).toString('base64url');
  const replaced = new ReplacedCertificates(options, log);
  const identityUses = new LastUses({
    ...{ clock, log, what: 'last calls of identities' },
    write: (uses) => writeIdentityUses(options.store.db, uses),
  });
  // The API shows connected identities as seen now, so that only the changes have to be written.
  options.status.onMeasured((kind, id) => {
    if (kind === 'identity') identityUses.saw(id);
  });
  const standard: BucketRate = { perSecond: 20, burst: 200 };
  const connections = new UnprovenConnections({ ...limits, isSuspect: isPasswordSuspect }, log);
  const webSockets = new WebSocketUpgrades(MAX_WEB_SOCKET_MESSAGE_BYTES);
  const externalIds = new ExternalIds(model);
  const externalSigners = new ExternalSigners({
    ...options,
    externalIds,
    fetch: (url) => options.egress.get(url),
  });
  const context: EdgeApiContext = {
    ...options,
    instanceId,
    hasManagement: options.managementRoutes !== undefined,
    changes: new ServiceChanges(model, clock),
    peers: new PeerIdentities(pki, model, new ClaimedIdentities(model, externalIds), clock),
    externalIds,
    enrollLimit: new TokenBuckets(limits.enroll ?? standard, clock),
    logInLimit: new TokenBuckets(limits.logIn ?? standard, clock),
    tokenLimit: new TokenBuckets(limits.logIn ?? standard, clock),
    logIns: new LogInLedger(clock),
    sawPeer(peer) {
      if (peer.leaf.authorityId === undefined) replaced.saw(peer);
    },
    identityUses,
    passwords: new PasswordLogIns(options),
    externalSigners,
    secondTokens: new SecondTokens(model, externalSigners),
    secondFactors: new SecondFactors(options),
    partialLogIns: new PartialLogIns(options.secrets, clock),
    webSockets,
    provePeer: (socket) => connections.prove(socket),
    holdPeer: (socket) => connections.hold(socket),
  };
  options.sessions.onPostureChanged(({ identityId }) => context.changes.onPostureChanged(identityId));
  let server!: Server;
  const app = fastify({
    serverFactory(handler) {
      server = createApiServer(pki.edgeServer, handler, log, limits, webSockets.takes);
      webSockets.follow(server, handler);
      return server;
    },
    forceCloseConnections: true,
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) =>
      void answerRefusal(refusalOf(error, context, request.ip), reply as FastifyReply, instanceId),
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

  const methods = new RouteMethods();
  app.addHook('onRoute', ({ url, method }) => methods.add(url, [method].flat()));
  continueWhenRead(server);
  options.onServer?.(server);
  connections.follow(server);
  server.on('secureConnection', (socket) => {
    if (!('problem' in context.peers.of(socket))) connections.prove(socket);
  });
  addBodySteps(app, context, options.intake ?? new BodyIntake());
  app.addHook('onRequest', (_request, reply, done) => {
    // OpenZiti's C SDK reads this header of every response without checking for it.
    void reply.header('ziti-instance-id', instanceId);
    void reply.header('frontdoor-authorities', pki.authoritiesMark);
    done();
  });
  if (options.store.isShared) {
    app.addHook('onRequest', async (request) => {
      const token = tokenOf(request);
      const isKnown = token === '' || context.sessions.byToken(token) !== undefined;
      if (isKnown) return;
      // It costs queries: for peers with a certificate of ours, for signed tokens of ours, and for few guesses.
      const isProven =
        !('problem' in context.peers.of(request.raw.socket)) ||
        context.sessionTokens.verifyAccess(token) !== undefined;
      if (!isProven && context.tokenLimit.take(addressKey(request.ip)) > 0) return;
      await context.sessions.find(token);
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
  const refusals = new RefusalRecorder(options);
  app.setErrorHandler((error, request, reply) => {
    const refusal = refusalOf(error, context, request.ip);
    recordEdgeRefusal(refusals, context, request, refusal);
    return answerRefusal(refusal, reply, instanceId);
  });
  app.setNotFoundHandler((request, reply) => sendRefusal(reply, notServed(request, reply, methods)));

  for (const prefix of EDGE_PREFIXES) {
    await app.register(
      (scope, _options, done) => {
        addInformationRoutes(scope, context, methods);
        addSessionRoutes(scope, context);
        addPostureRoutes(scope, context);
        addSessionCertificateRoutes(scope, context);
        addIdentityRoutes(scope, context);
        addAuthenticatorRoutes(scope, context);
        addTotpRoutes(scope, context);
        addServiceRoutes(scope, context);
        addEnrollRoutes(scope, context);
        done();
      },
      { prefix },
    );
  }
  addOidcRoutes(app, context);
  await options.managementRoutes?.(app, context);
  addAgentRoutes(app, context);
  addMetricRoutes(app, context);
  addGatewayLoginRoutes(app, context);
  addGatewayRecordRoutes(app, context);
  const streams = addGatewayRoutes(app, context, new GatewayFeed(model, options.login.access, instanceId));
  await app.ready();

  return {
    instanceId,
    async listen({ host, port }) {
      await app.listen({ host, port });
      return server.address() as AddressInfo;
    },
    async close() {
      streams.close();
      await app.close();
      await replaced.idle();
      await identityUses.close();
      await refusals.close();
    },
  };
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

function refusalOf(error: unknown, context: EdgeApiContext, address: string): EdgeApiRefusal {
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
  context.log.error(
    { errorId: id, address, error: messageOf(error), cause: error },
    'edge API: request failed',
  );
  failAlone({ kind: 'request', id, log: context.log }, error);
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
