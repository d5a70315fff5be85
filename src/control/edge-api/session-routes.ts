/** Log-in, and a client's queries about its session. */
import type { FastifyInstance } from 'fastify';
import { sendData } from './edge-answer.ts';
import { callerOf, queryOf, type EdgeApiContext } from './edge-context.ts';
import { EDGE_PATH } from './information-routes.ts';
import { controllerView } from './controller-view.ts';
import { jsonBody, sendPage } from './edge-request.ts';
import { configTypesOf, loggedIn, provenForLogIn } from './log-in.ts';
import { controllerSymbols } from './entity-symbols.ts';
import { apiSessionView, isoTime } from './service-view.ts';

/** Adds the routes that OpenZiti serves both at the root and below `/edge/client/v1`. */
export function addSessionRoutes(app: FastifyInstance, context: EdgeApiContext): void {
  app.post('/authenticate', async (request, reply) => {
    const isMethod = queryOf(request).get('method') === 'cert';
    const peer = provenForLogIn(context, request, isMethod);
    const { identity, leaf } = peer;
    const configTypes = configTypesOf(jsonBody(request));
    const session = await loggedIn(context, request, peer, configTypes, 'opaque');
    void reply.header('zt-session', session.token);
    return sendData(
      reply,
      apiSessionView(session, identity, leaf.fingerprint, request.ip, context.clock.nowMs()),
    );
  });

  app.get('/current-api-session', (request, reply) => {
    const { peer, session, token } = callerOf(context, request);
    const { identity, leaf } = peer;
    const view = apiSessionView(session, identity, leaf.fingerprint, request.ip, context.clock.nowMs());
    return sendData(reply, { ...view, token });
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
