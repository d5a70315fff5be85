/** Log-in, and a client's queries about its session. */
import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { notAuthorized, sendData } from './edge-answer.ts';
import {
  callerOf,
  missingSignerOf,
  peerOf,
  queryOf,
  sessionCallerOf,
  tokenOf,
  type EdgeApiContext,
  type EdgeCaller,
} from './edge-context.ts';
import { EDGE_PATH } from './information-routes.ts';
import { controllerView } from './controller-view.ts';
import { jsonBody, sendPage } from './edge-request.ts';
import type { LiveSession } from './api-session-store.ts';
import { passwordAuthenticatorId } from './authenticator-view.ts';
import { bodyRule } from './edge-body.ts';
import type { PasswordCredentials } from './password-log-in.ts';
import {
  loggedIn,
  logInRefused,
  provenByExternalToken,
  provenByPassword,
  provenForLogIn,
  type LogInProof,
} from './log-in.ts';
import { wishOf, type LogInWish } from './log-in-body.ts';
import { controllerSymbols } from './entity-symbols.ts';
import type { PartialLogIn } from './partial-log-ins.ts';
import type { SecondFactorNeed } from './second-factors.ts';
import type { SecondToken } from './second-tokens.ts';
import { apiSessionView, isoTime, type SecondFactorState } from './service-view.ts';

/** A log-in of a client without a certificate, in bytes. */
const MAX_LOG_IN_BYTES = 16_384;
/** What a log-in shows while it waits. */
const STATE_OF_NEED: Readonly<Record<SecondFactorNeed, SecondFactorState>> = {
  none: 'none',
  code: 'pending',
  enrollment: 'unenrolled',
};

/** Adds the routes that OpenZiti serves both at the root and below `/edge/client/v1`. */
export function addSessionRoutes(app: FastifyInstance, context: EdgeApiContext): void {
  type Session = Pick<LiveSession, 'method' | 'id' | 'token' | 'configTypes' | 'createdAtMs'>;
  const viewOf = (
    session: Session,
    { identity, leaf }: Pick<EdgeCaller, 'identity' | 'leaf'>,
    request: FastifyRequest,
    secondFactor: SecondFactorState,
    missingSigner?: string,
  ): Record<string, unknown> => {
    const isPassword = session.method === 'password';
    const authenticatorId = leaf?.fingerprint ?? (isPassword ? passwordAuthenticatorId(identity) : 'ext-jwt');
    const nowMs = context.clock.nowMs();
    const queries = missingSigner === undefined ? [] : [context.secondTokens.query(missingSigner)];
    const certificate = {
      isOurs: leaf !== undefined && leaf.isThirdParty !== true,
      isReplaced: context.pki.isReplaced(leaf?.issuer),
    };
    return apiSessionView(
      ...([session, identity, authenticatorId, request.ip, nowMs, secondFactor] as const),
      ...([certificate, queries] as const),
    );
  };
  const partialView = (
    login: PartialLogIn,
    token: string,
    request: FastifyRequest,
    need: SecondFactorNeed,
    { signerId, isProven }: SecondToken,
  ): unknown => {
    const identity = context.model.identity(login.identityId);
    const leaf = login.method === 'cert' ? peerOf(context, request).leaf : undefined;
    if (identity === undefined) throw notAuthorized();
    const session = { ...login, id: login.sessionId, token, createdAtMs: login.startedAtMs };
    return viewOf(session, { identity, leaf }, request, STATE_OF_NEED[need], isProven ? undefined : signerId);
  };

  const provenBy = (method: string | null, request: FastifyRequest, body: unknown): Promise<LogInProof> => {
    if (method === 'cert') return provenForLogIn(context, request);
    if (method === 'password')
      return provenByPassword(
        context,
        request,
        (body ?? {}) as Partial<PasswordCredentials> as PasswordCredentials,
      );
    if (method === 'ext-jwt') return provenByExternalToken(context, request);
    throw logInRefused(context, request, { method: undefined, problem: 'unknown method' });
  };

  const anybody = { config: bodyRule({ maxUnprovenBytes: MAX_LOG_IN_BYTES }) };
  app.post('/authenticate', anybody, async (request, reply) => {
    const body = jsonBody(request);
    const proof = await provenBy(queryOf(request).get('method'), request, body);
    const wish = wishOf(body);
    const need = await context.secondFactors.needOf(proof.identity.id);
    const second = await context.secondTokens.check(request, proof.identity.id);
    if (need !== 'none' || !second.isProven) {
      const login = { ...started(proof, context.clock.nowMs()), ...wish };
      const token = context.partialLogIns.tokenOf(login);
      return sendData(reply.header('zt-session', token), partialView(login, token, request, need, second));
    }
    const whole = { ...proof, secondSignerId: second.signerId };
    const session = await loggedIn(context, request, whole, wish, 'opaque');
    void reply.header('zt-session', session.token);
    return sendData(reply, viewOf(session, proof, request, 'none'));
  });

  app.get('/current-api-session', async (request, reply) => {
    const token = tokenOf(request);
    const isWhole = context.sessions.byToken(token) !== undefined;
    const login = isWhole ? undefined : context.partialLogIns.of(token);
    if (login !== undefined) {
      const need = await context.secondFactors.needOf(login.identityId);
      const second = await context.secondTokens.check(request, login.identityId);
      return sendData(reply, partialView(login, token, request, need, second));
    }
    const caller = sessionCallerOf(context, request);
    const hasEnrolled = await context.secondFactors.hasEnrolled(caller.identity.id);
    const missing = missingSignerOf(context, request, caller.session);
    const view = viewOf(caller.session, caller, request, hasEnrolled ? 'passed' : 'none', missing);
    return sendData(reply, { ...view, token: caller.token });
  });

  app.delete('/current-api-session', async (request, reply) => {
    const { session } = sessionCallerOf(context, request);
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
}

function started(
  { identity, method, signerId }: LogInProof,
  nowMs: number,
): Omit<PartialLogIn, keyof LogInWish> {
  return { sessionId: randomUUID(), identityId: identity.id, method, signerId, startedAtMs: nowMs };
}
