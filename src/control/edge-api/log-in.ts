/** The log-in of an identity, which both kinds of API sessions begin with. */
import type { FastifyRequest } from 'fastify';
import { addressKey } from '#base';
import type { LiveSession, SessionStart } from './api-session-store.ts';
import { authPolicyOf, permitsLogIn, type Identity } from '../model/mod.ts';
import { BACKDATE_MS, type ProvenLeaf } from '../pki/mod.ts';
import type { PasswordCredentials } from './password-log-in.ts';
import type { LogInMethod, SessionForm, SessionWay } from './api-session-rows.ts';
import { bearerTokensOf } from './bearer-tokens.ts';
import { EdgeApiRefusal, limited } from './edge-answer.ts';
import { appendPeerAudit } from './edge-audit.ts';
import { passwordAuthenticatorId } from './authenticator-view.ts';
import type { EdgeApiContext } from './edge-context.ts';
import { reportLogIn } from './log-in-report.ts';
import type { LogInWish } from './log-in-body.ts';
import { putIdentityClient, type StoreTransaction, type Touch } from '../store/mod.ts';

/** Time within which news of other control planes arrive. */
const NEWS_MS = 60_000;

/** An identity that has proven itself, by one of the methods. */
export interface LogInProof extends SessionWay {
  readonly identity: Identity;
  /** The certificate that it presented, for a log-in by certificate. */
  readonly leaf: ProvenLeaf | undefined;
}

/** Returns the peer if its identity may log in by certificate. */
export async function provenForLogIn(context: EdgeApiContext, request: FastifyRequest): Promise<LogInProof> {
  const { socket } = request.raw;
  let proof = context.peers.of(socket);
  if ('problem' in proof && isJustIssued(proof.signed, context.clock.nowMs())) {
    await context.loadIdentity(proof.signed.id);
    proof = context.peers.of(socket);
  }
  if (!('problem' in proof) && proof.peer.identity.kind !== 'router')
    return permitted(context, request, {
      ...{ ...proof.peer, method: 'cert', signerId: proof.peer.leaf.authorityId },
    });
  const problem = 'problem' in proof ? proof.problem : 'routers do not log in here';
  const leaf = 'problem' in proof ? proof.signed : proof.peer.leaf;
  throw logInRefused(context, request, { method: 'cert', problem, leaf });
}

/** Whether another control plane may have issued the certificate a moment ago, so that it is not in the model yet. */
function isJustIssued(leaf: ProvenLeaf | undefined, nowMs: number): leaf is ProvenLeaf {
  return leaf !== undefined && nowMs < leaf.notBeforeMs + BACKDATE_MS + NEWS_MS;
}

/** Returns the identity of a user name and password. Throws if they are wrong, or guessed too often. */
export async function provenByPassword(
  context: EdgeApiContext,
  request: FastifyRequest,
  credentials: PasswordCredentials,
): Promise<LogInProof> {
  const release = context.holdPeer(request.raw.socket);
  const proof = await context.passwords.prove(credentials, request.ip).finally(release);
  if ('waitMs' in proof) throw limited(proof.waitMs);
  if ('problem' in proof) throw logInRefused(context, request, { method: 'password', ...proof });
  return permitted(context, request, { identity: proof.identity, method: 'password', leaf: undefined });
}

/** Returns the identity of one of the tokens that the client sends. Throws if none of them is valid. */
export async function provenByExternalToken(
  context: EdgeApiContext,
  request: FastifyRequest,
): Promise<LogInProof> {
  const waitMs = context.tokenLimit.take(addressKey(request.ip));
  if (waitMs > 0) throw limited(waitMs);
  let problem = 'no token of another party';
  for (const token of bearerTokensOf(request)) {
    const proof = await context.externalSigners.prove(token);
    if ('identity' in proof) {
      const { identity, signerId } = proof;
      return permitted(context, request, { identity, method: 'ext-jwt', signerId, leaf: undefined });
    }
    ({ problem } = proof);
  }
  throw logInRefused(context, request, { method: 'ext-jwt', problem });
}

/** Returns the proof if the policy of the identity permits its method. Throws otherwise. */
function permitted(context: EdgeApiContext, request: FastifyRequest, proof: LogInProof): LogInProof {
  const { identity, leaf, method, signerId } = proof;
  const way = { method, signerId, leaf, identityId: identity.id };
  if (!permitsLogIn(authPolicyOf(context.model.edge, identity.id), proof)) {
    const problem = 'the authentication policy does not permit the method';
    throw logInRefused(context, request, { ...way, problem });
  }
  const authenticatorId = method === 'password' ? passwordAuthenticatorId(identity) : leaf?.fingerprint;
  reportLogIn(context, request, { ...way, authenticatorId });
  return proof;
}

export interface FailedLogIn {
  /** Undefined if the caller named no known one. */
  readonly method: LogInMethod | undefined;
  readonly problem: string;
  readonly leaf?: ProvenLeaf | undefined;
  /** Undefined if it is not known. */
  readonly identityId?: string | undefined;
  readonly signerId?: string | undefined;
}

/** Only a peer with a certificate of ours learns the problem. */
export function logInRefused(
  context: EdgeApiContext,
  request: FastifyRequest,
  { leaf, problem, identityId = leaf?.id, ...way }: FailedLogIn,
): EdgeApiRefusal {
  if (way.method !== undefined)
    reportLogIn(context, request, {
      ...{ method: way.method, identityId, problem, signerId: way.signerId },
      authenticatorId: leaf?.fingerprint,
    });
  context.log.info({ identity: leaf?.id, address: request.ip, problem }, 'edge API: log-in refused');
  const cause = leaf === undefined ? '' : `: ${problem}`;
  return new EdgeApiRefusal('unauthenticated', 'INVALID_AUTH', `The authentication request failed${cause}`);
}

/** Opens a session, with its audit event. Throws if the identity logs in too often. */
export async function loggedIn(
  context: EdgeApiContext,
  request: FastifyRequest,
  proof: LogInProof,
  { configTypes, client }: LogInWish,
  form: Exclude<SessionForm, 'signed'>,
  start: Pick<SessionStart, 'id' | 'token'> = {},
): Promise<LiveSession> {
  const { identity, leaf, method, signerId, secondSignerId } = proof;
  const waitMs = context.logInLimit.take(identity.id);
  if (waitMs > 0) throw limited(waitMs);
  if (leaf !== undefined) context.sawPeer({ identity, leaf });
  const occurrences = context.logIns.due(identity.id, request.ip);
  const record = async (trx: StoreTransaction, touch: Touch, sessionId: string): Promise<void> => {
    await putIdentityClient(trx, identity.id, client);
    if (occurrences === 0) return;
    await appendPeerAudit(trx, touch, context, request, proof, {
      action: 'logIn',
      target: { kind: 'api-session', id: sessionId },
      after: leaf === undefined ? { method } : { fingerprint: leaf.fingerprint },
      occurrences,
    });
  };
  const fingerprint = leaf?.fingerprint ?? '';
  const session = await context.sessions.create(identity.id, fingerprint, configTypes, form, record, {
    ...start,
    ...{ method, signerId, secondSignerId, certificateEndsAtMs: leaf?.notAfterMs },
  });
  context.logIns.done(identity.id, request.ip, occurrences);
  context.identityUses.saw(identity.id, request.ip);
  const fields = { identity: identity.id, apiSession: session.id, method, address: request.ip };
  context.log.info(fields, 'edge API: logged in');
  return session;
}
