/** Log-in, and a client's queries about its session. */
import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { definedFields } from '#base';
import {
  notAuthorized,
  sendData,
  tokenOf,
  type EdgeCaller,
  jsonBody,
  queryOf,
  type LiveSession,
  bodyRule,
  type SecondToken,
} from '../../overlay/clients/mod.ts';
import type { EdgeContext, SignInContext } from './edge-context.ts';
import { EDGE_PATH } from './information-routes.ts';
import { controllerView } from './controller-view.ts';
import { sendPage } from './list-answer.ts';
import { passwordAuthenticatorId } from './authenticator-view.ts';
import type { PasswordCredentials } from './password-log-in.ts';
import type { LogInProof } from './log-in.ts';
import { wishOf, type LogInWish } from './log-in-body.ts';
import { controllerSymbols } from './entity-symbols.ts';
import type { PartialLogIn } from './partial-log-ins.ts';
import type { SecondFactorNeed } from './second-factors.ts';
import type { ServiceChanges } from './service-changes.ts';
import { apiSessionView, isoTime, type SecondFactorState } from './service-view.ts';

/** `changes` knows when the services of an identity changed last. */
export type SessionRouteContext = SignInContext &
  Pick<EdgeContext, 'pki' | 'addresses'> & { readonly changes: ServiceChanges };

/** A log-in of a client without a certificate, in bytes. */
const MAX_LOG_IN_BYTES = 16_384;
/** What a log-in shows while it waits. */
const STATE_OF_NEED: Readonly<Record<SecondFactorNeed, SecondFactorState>> = {
  none: 'none',
  code: 'pending',
  enrollment: 'unenrolled',
};

/** Adds the routes that OpenZiti serves both at the root and below `/edge/client/v1`. */
export function addSessionRoutes(app: FastifyInstance, context: SessionRouteContext): void {
  const { signIn } = context;
  const anybody = { config: bodyRule({ maxUnprovenBytes: MAX_LOG_IN_BYTES }) };
  app.post('/authenticate', anybody, async (request, reply) => {
    const body = jsonBody(request);
    const proof = await provenBy(context, queryOf(request).get('method'), request, body);
    const wish = wishOf(body);
    const need = await signIn.secondFactors.needOf(proof.identity.id);
    const second = await signIn.secondTokens.check(request, proof.identity.id);
    if (need !== 'none' || !second.isProven) {
      const login = { ...started(proof, context.clock.nowMs()), ...wish };
      const token = signIn.partialLogIns.tokenOf(login);
      return sendData(
        reply.header('zt-session', token),
        partialView(context, login, token, request, need, second),
      );
    }
    const whole = { ...proof, secondSignerId: second.signerId };
    const session = await signIn.logIns.open(request, whole, wish, 'opaque');
    void reply.header('zt-session', session.token);
    return sendData(reply, viewOf(context, session, proof, request, 'none'));
  });

  app.get('/current-api-session', async (request, reply) => {
    const token = tokenOf(request);
    const isWhole = signIn.sessions.byToken(token) !== undefined;
    const login = isWhole ? undefined : signIn.partialLogIns.of(token);
    if (login !== undefined) {
      const need = await signIn.secondFactors.needOf(login.identityId);
      const second = await signIn.secondTokens.check(request, login.identityId);
      return sendData(reply, partialView(context, login, token, request, need, second));
    }
    const caller = context.callers.sessionCallerOf(request);
    const hasEnrolled = await signIn.secondFactors.hasEnrolled(caller.identity.id);
    const missing = context.callers.missingSignerOf(request, caller.session);
    const view = viewOf(context, caller.session, caller, request, hasEnrolled ? 'passed' : 'none', missing);
    return sendData(reply, { ...view, token: caller.token });
  });

  app.delete('/current-api-session', async (request, reply) => {
    const { session } = context.callers.sessionCallerOf(request);
    await signIn.sessions.remove(session.id);
    return sendData(reply, {});
  });

  app.get('/current-api-session/service-updates', (request, reply) => {
    const { session } = context.callers.callerOf(request);
    return sendData(reply, { lastChangeAt: isoTime(context.changes.lastChangeMs(session.identityId)) });
  });

  app.get('/controllers', (request, reply) => {
    context.callers.callerOf(request);
    const all = context.addresses.controllers();
    // One with a single address lists nothing, as OpenZiti's controllers do outside of a cluster.
    const listed = all.length === 1 && all[0]!.apiUrls.length === 1 ? [] : all;
    return sendPage(reply, queryOf(request), listed, controllerSymbols, (controller) =>
      controllerView(controller, EDGE_PATH),
    );
  });
}

type Session = Pick<LiveSession, 'method' | 'id' | 'token' | 'configTypes' | 'createdAtMs'>;

function viewOf(
  { signIn, pki, clock }: SessionRouteContext,
  session: Session,
  { identity, leaf }: Pick<EdgeCaller, 'identity' | 'leaf'>,
  request: FastifyRequest,
  secondFactor: SecondFactorState,
  missingSigner?: string,
): Record<string, unknown> {
  const isPassword = session.method === 'password';
  const authenticatorId = leaf?.fingerprint ?? (isPassword ? passwordAuthenticatorId(identity) : 'ext-jwt');
  const queries = missingSigner === undefined ? [] : [signIn.secondTokens.query(missingSigner)];
  const certificate = {
    isOurs: leaf !== undefined && leaf.isThirdParty !== true,
    isReplaced: pki.isReplaced(leaf?.issuer),
  };
  return apiSessionView(
    session,
    identity,
    authenticatorId,
    request.ip,
    clock.nowMs(),
    secondFactor,
    certificate,
    queries,
  );
}

/** A log-in that waits for a second factor or a token of another party. */
function partialView(
  context: SessionRouteContext,
  login: PartialLogIn,
  token: string,
  request: FastifyRequest,
  need: SecondFactorNeed,
  { signerId, isProven }: SecondToken,
): Record<string, unknown> {
  const identity = context.model.identity(login.identityId);
  const leaf = login.method === 'cert' ? context.callers.peerOf(request).leaf : undefined;
  if (identity === undefined) throw notAuthorized();
  const session = { ...login, id: login.sessionId, token, createdAtMs: login.startedAtMs };
  const missing = isProven ? undefined : signerId;
  return viewOf(context, session, { identity, leaf }, request, STATE_OF_NEED[need], missing);
}

function provenBy(
  { signIn: { logIns } }: SessionRouteContext,
  method: string | null,
  request: FastifyRequest,
  body: unknown,
): Promise<LogInProof> {
  if (method === 'cert') return logIns.byCertificate(request);
  if (method === 'password')
    return logIns.byPassword(request, (body ?? {}) as Partial<PasswordCredentials> as PasswordCredentials);
  if (method === 'ext-jwt') return logIns.byExternalToken(request);
  throw logIns.refused(request, { method: undefined, problem: 'unknown method' });
}

function started(
  { identity, method, signerId }: LogInProof,
  nowMs: number,
): Omit<PartialLogIn, keyof LogInWish> {
  const login = { sessionId: randomUUID(), identityId: identity.id, method, startedAtMs: nowMs };
  return { ...login, ...definedFields({ signerId }) };
}
