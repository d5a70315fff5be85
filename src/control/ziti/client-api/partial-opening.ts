/** The end of a log-in at `authenticate` that waited for a second factor: its token becomes that of a session. */
import type { FastifyRequest } from 'fastify';
import { authPolicyOf, permitsLogIn } from '../../overlay/model/mod.ts';
import { hasPasswordSince } from '../../credentials/identities/mod.ts';
import { hasEnded, notAuthorized, tokenOf } from '../../overlay/clients/mod.ts';
import type { SignInContext } from './edge-context.ts';
import type { LogInProof } from './log-in.ts';
import type { PartialLogIn } from './partial-log-ins.ts';
import { passMfa } from './posture-routes.ts';

/** Proves the client of the log-in again. Throws if its certificate, or its token of another party, is missing. */
export async function provenPartial(
  context: SignInContext,
  request: FastifyRequest,
  { identityId, method, signerId, startedAtMs }: PartialLogIn,
): Promise<LogInProof> {
  const identity = context.model.identity(identityId);
  const peer = method === 'cert' ? context.callers.peerOf(request) : undefined;
  if (identity === undefined || (peer !== undefined && peer.identity.id !== identityId))
    throw notAuthorized();
  // The policy may have changed since the first step.
  if (!permitsLogIn(authPolicyOf(context.model.edge, identityId), { method, signerId }))
    throw notAuthorized();
  if (method === 'password' && !(await hasPasswordSince(context.store.db, identityId, startedAtMs)))
    throw notAuthorized();
  const second = await context.signIn.secondTokens.check(request, identityId);
  if (!second.isProven) throw notAuthorized();
  return { identity, method, leaf: peer?.leaf, signerId, secondSignerId: second.signerId };
}

/** `hasPassedMfa`: with a one-time password, which counts for the posture of the session. */
export async function openPartial(
  context: SignInContext,
  request: FastifyRequest,
  partial: PartialLogIn,
  proof: LogInProof,
  hasPassedMfa: boolean,
): Promise<void> {
  const { sessionId: id } = partial;
  // The client may repeat the call: the session stands then.
  if ((await context.signIn.sessions.findById(id)) !== undefined) return;
  if (await hasEnded(context.store.db, id)) throw notAuthorized();
  const session = await context.signIn.logIns.open(request, proof, partial, 'opaque', {
    id,
    token: tokenOf(request),
  });
  if (hasPassedMfa) await passMfa(context, session.id);
}

/**
 * Reads the token of another party that a call with the session's own token carries. A log-in that waited only for it
 * becomes a session.
 */
export class SecondTokenStep {
  readonly #context: SignInContext;
  /** Log-ins that become a session now, so that calls at once open one. */
  readonly #opening = new Map<string, Promise<void>>();

  constructor(context: SignInContext) {
    this.#context = context;
  }

  async take(request: FastifyRequest): Promise<void> {
    const token = request.headers['zt-session'];
    if (typeof token !== 'string' || request.headers.authorization === undefined) return;
    const { sessions, partialLogIns, secondTokens } = this.#context.signIn;
    const session = sessions.byToken(token);
    if (session !== undefined) {
      await secondTokens.check(request, session.identityId);
      return;
    }
    const partial = partialLogIns.of(token);
    if (partial === undefined) return;
    const { signerId, isProven } = await secondTokens.check(request, partial.identityId);
    if (signerId === undefined || !isProven) return;
    await (this.#opening.get(partial.sessionId) ?? this.#open(request, partial));
  }

  async #open(request: FastifyRequest, partial: PartialLogIn): Promise<void> {
    const opening = this.#openNow(request, partial);
    this.#opening.set(partial.sessionId, opening);
    try {
      await opening;
    } finally {
      this.#opening.delete(partial.sessionId);
    }
  }

  async #openNow(request: FastifyRequest, partial: PartialLogIn): Promise<void> {
    if ((await this.#context.signIn.secondFactors.needOf(partial.identityId)) !== 'none') return;
    const proof = await provenPartial(this.#context, request, partial);
    await openPartial(this.#context, request, partial, proof, false);
  }
}
