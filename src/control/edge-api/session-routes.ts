/** Log-in, and a client's queries about its session. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { sendData } from './edge-answer.ts';
import { callerOf, queryOf, type EdgeApiContext, type EdgeCaller } from './edge-context.ts';
import { EDGE_PATH } from './information-routes.ts';
import { controllerView } from './controller-view.ts';
import { jsonBody, sendPage } from './edge-request.ts';
import type { LiveSession } from './api-session-store.ts';
import { passwordAuthenticatorId } from './authenticator-view.ts';
import { bodyRule } from './edge-body.ts';
import type { PasswordCredentials } from './password-log-in.ts';
import {
  configTypesOf,
  loggedIn,
  logInRefused,
  provenByPassword,
  provenForLogIn,
  type LogInProof,
} from './log-in.ts';
import { controllerSymbols } from './entity-symbols.ts';
import { apiSessionView, isoTime } from './service-view.ts';

/** A log-in of a client without a certificate, in bytes. */
const MAX_LOG_IN_BYTES = 16_384;

/** Adds the routes that OpenZiti serves both at the root and below `/edge/client/v1`. */
export function addSessionRoutes(app: FastifyInstance, context: EdgeApiContext): void {
  const viewOf = (
    session: LiveSession,
    { identity, leaf }: Pick<EdgeCaller, 'identity' | 'leaf'>,
    request: FastifyRequest,
  ): Record<string, unknown> => {
    const authenticatorId = leaf?.fingerprint ?? passwordAuthenticatorId(identity);
    return apiSessionView(session, identity, authenticatorId, request.ip, context.clock.nowMs());
  };

  const provenBy = (
    method: string | null,
    request: FastifyRequest,
    body: unknown,
  ): Promise<LogInProof> | LogInProof => {
    if (method === 'cert') return provenForLogIn(context, request);
    if (method === 'password')
      return provenByPassword(
        context,
        request,
        (body ?? {}) as Partial<PasswordCredentials> as PasswordCredentials,
      );
    throw logInRefused(context, request, 'unknown method');
  };

  const anybody = { config: bodyRule({ maxUnprovenBytes: MAX_LOG_IN_BYTES }) };
  app.post('/authenticate', anybody, async (request, reply) => {
    const body = jsonBody(request);
    const proof = await provenBy(queryOf(request).get('method'), request, body);
    const session = await loggedIn(context, request, proof, configTypesOf(body), 'opaque');
    void reply.header('zt-session', session.token);
    return sendData(reply, viewOf(session, proof, request));
  });

  app.get('/current-api-session', (request, reply) => {
    const caller = callerOf(context, request);
    return sendData(reply, { ...viewOf(caller.session, caller, request), token: caller.token });
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
