/** Log-in, and a client's queries about itself. */
import type { FastifyInstance } from 'fastify';
import { couldNotValidate, EdgeApiRefusal, limited, sendData } from './edge-answer.ts';
import { appendPeerAudit } from './edge-audit.ts';
import { callerOf, queryOf, type EdgeApiContext } from './edge-context.ts';
import { EDGE_PATH } from './information-routes.ts';
import { controllerView } from './controller-view.ts';
import { jsonBody, sendPage } from './edge-request.ts';
import { controllerSymbols, routerSymbols } from './entity-symbols.ts';
import { apiSessionView, identityView, isoTime, routerView } from './service-view.ts';

const MAX_CONFIG_TYPES = 100;
const MAX_CONFIG_TYPE_CHARS = 200;

/** Adds the routes that OpenZiti serves both at the root and below `/edge/client/v1`. */
export function addSessionRoutes(app: FastifyInstance, context: EdgeApiContext): void {
  app.post('/authenticate', async (request, reply) => {
    const proof = context.peers.of(request.raw.socket);
    if (
      queryOf(request).get('method') !== 'cert' ||
      'problem' in proof ||
      proof.peer.identity.kind === 'router'
    ) {
      const problem = 'problem' in proof ? proof.problem : 'not a method or an identity that logs in here';
      const leaf = 'problem' in proof ? proof.signed : proof.peer.leaf;
      context.log.info({ identity: leaf?.id, address: request.ip, problem }, 'edge API: log-in refused');
      const cause = leaf === undefined ? '' : `: ${problem}`;
      throw new EdgeApiRefusal(
        'unauthenticated',
        'INVALID_AUTH',
        `The authentication request failed${cause}`,
      );
    }
    const { identity, leaf } = proof.peer;
    const waitMs = context.logInLimit.take(identity.id);
    if (waitMs > 0) throw limited(waitMs);
    context.sawPeer(proof.peer);
    const told = context.logIns.due(identity.id, request.ip);
    const session = await context.sessions.create(
      identity.id,
      leaf.fingerprint,
      configTypesOf(jsonBody(request)),
      async (trx, touch, sessionId) => {
        if (told === 0) return;
        await appendPeerAudit(trx, touch, context, request, proof.peer, {
          action: 'logIn',
          target: { kind: 'api-session', id: sessionId },
          after: { fingerprint: leaf.fingerprint },
          occurrences: told,
        });
      },
    );
    context.logIns.done(identity.id, request.ip, told);
    context.log.info(
      { identity: identity.id, apiSession: session.id, address: request.ip },
      'edge API: logged in',
    );
    void reply.header('zt-session', session.token);
    return sendData(
      reply,
      apiSessionView(session, identity, leaf.fingerprint, request.ip, context.clock.nowMs()),
    );
  });

  app.get('/current-api-session', (request, reply) => {
    const { peer, session } = callerOf(context, request);
    const { identity, leaf } = peer;
    return sendData(
      reply,
      apiSessionView(session, identity, leaf.fingerprint, request.ip, context.clock.nowMs()),
    );
  });

  app.delete('/current-api-session', async (request, reply) => {
    const { session } = callerOf(context, request);
    await context.sessions.remove(session.id);
    return sendData(reply, {});
  });

  app.get('/current-api-session/service-updates', (request, reply) => {
    const { session } = callerOf(context, request);
    return sendData(reply, { lastChangeAt: isoTime(context.changes.lastChangeMs(session.identityId)) });
  });

  app.get('/current-identity', (request, reply) => {
    const { peer } = callerOf(context, request);
    return sendData(reply, identityView(peer.identity));
  });

  app.get('/current-identity/edge-routers', (request, reply) => {
    callerOf(context, request);
    return sendPage(reply, queryOf(request), context.routers(), routerSymbols, routerView);
  });

  app.get('/controllers', (request, reply) => {
    callerOf(context, request);
    const all = context.controllers();
    // One with a single address lists nothing, as OpenZiti's controllers do outside of a cluster.
    const listed = all.length === 1 && all[0]!.apiUrls.length === 1 ? [] : all;
    return sendPage(reply, queryOf(request), listed, controllerSymbols, (controller) =>
      controllerView(controller, EDGE_PATH),
    );
  });

  // No share requires posture checks. Posture data is read and ignored.
  for (const path of ['/posture-response', '/posture-response-bulk']) {
    app.post(path, (request, reply) => {
      callerOf(context, request);
      return sendData(reply, { services: [] }, 201);
    });
  }
}

/** An empty body is a log-in without configs. */
function configTypesOf(body: unknown): string[] {
  if (body === undefined || body === null) return [];
  const { configTypes } = body as { configTypes?: unknown };
  if (configTypes === undefined || configTypes === null) return [];
  const texts = Array.isArray(configTypes) && configTypes.every((one) => typeof one === 'string');
  if (!texts || configTypes.length > MAX_CONFIG_TYPES)
    throw couldNotValidate('configTypes is not a list of texts');
  if (configTypes.some((one: string) => one.length > MAX_CONFIG_TYPE_CHARS))
    throw couldNotValidate('a config type is too long');
  return configTypes;
}
