/** The log-in of an identity, which both kinds of API sessions begin with. */
import type { FastifyRequest } from 'fastify';
import { addressKey, type TokenBuckets } from '#base';
import {
  type ApiSessionStore,
  type LiveSession,
  type SessionStart,
  type LogInMethod,
  type SessionForm,
  type SessionWay,
  bearerTokensOf,
  EdgeApiRefusal,
  limited,
  appendPeerAudit,
  type Callers,
  type EdgeBase,
  type ExternalSigners,
} from '../../overlay/clients/mod.ts';
import { authPolicyOf, permitsLogIn, type FabricEvents, type Identity } from '../../overlay/model/mod.ts';
import { LogInLedger } from '../../audit/mod.ts';
import { BACKDATE_MS, type ProvenLeaf } from '../../pki/mod.ts';
import { PasswordLogIns, type PasswordCredentials } from './password-log-in.ts';
import { passwordAuthenticatorId } from './authenticator-view.ts';
import { reportLogIn } from './log-in-report.ts';
import type { LogInWish } from './log-in-body.ts';
import { putIdentityClient } from '../../overlay/records/mod.ts';
import type { StoreTransaction, Touch } from '../../store/mod.ts';

/** Time within which news of other control planes arrive. */
const NEWS_MS = 60_000;

/** An identity that has proven itself, by one of the methods. */
export interface LogInProof extends SessionWay {
  readonly identity: Identity;
  /** The certificate that it presented, for a log-in by certificate. */
  readonly leaf: ProvenLeaf | undefined;
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

export interface LogInParts extends EdgeBase {
  readonly callers: Callers;
  readonly sessions: ApiSessionStore;
  /** What administrators follow. */
  readonly events: FabricEvents;
  readonly externalSigners: ExternalSigners;
  /** Reads an identity from the store into the model. */
  readonly loadIdentity: (id: string) => Promise<void>;
  readonly limits: {
    /** Log-ins, per identity. */
    readonly logIn: TokenBuckets;
    /** Tokens of peers without a certificate that cost a search or a verification, per address. */
    readonly token: TokenBuckets;
  };
}

/** Proves identities by each of the methods, and opens their sessions. */
export class LogIns {
  readonly #parts: LogInParts;
  readonly #passwords: PasswordLogIns;
  readonly #ledger: LogInLedger;

  constructor(parts: LogInParts) {
    this.#parts = parts;
    this.#passwords = new PasswordLogIns(parts);
    this.#ledger = new LogInLedger(parts.clock);
  }

  /** Returns the peer if its identity may log in by certificate. */
  async byCertificate(request: FastifyRequest): Promise<LogInProof> {
    const { callers } = this.#parts;
    const { socket } = request.raw;
    let proof = callers.peers.of(socket);
    if ('problem' in proof && isJustIssued(proof.signed, this.#parts.clock.nowMs())) {
      await this.#parts.loadIdentity(proof.signed.id);
      proof = callers.peers.of(socket);
    }
    if (!('problem' in proof) && proof.peer.identity.kind !== 'router')
      return this.#permitted(request, {
        ...proof.peer,
        method: 'cert',
        signerId: proof.peer.leaf.authorityId,
      });
    const problem = 'problem' in proof ? proof.problem : 'routers do not log in here';
    const leaf = 'problem' in proof ? proof.signed : proof.peer.leaf;
    throw this.refused(request, { method: 'cert', problem, leaf });
  }

  /** Returns the identity of a user name and password. Throws if they are wrong, or guessed too often. */
  async byPassword(request: FastifyRequest, credentials: PasswordCredentials): Promise<LogInProof> {
    const release = this.#parts.callers.hold(request.raw.socket);
    const proof = await this.#passwords.prove(credentials, request.ip).finally(release);
    if ('waitMs' in proof) throw limited(proof.waitMs);
    if ('problem' in proof) throw this.refused(request, { method: 'password', ...proof });
    return this.#permitted(request, { identity: proof.identity, method: 'password', leaf: undefined });
  }

  /** Returns the identity of one of the tokens that the client sends. Throws if none of them is valid. */
  async byExternalToken(request: FastifyRequest): Promise<LogInProof> {
    const waitMs = this.#parts.limits.token.take(addressKey(request.ip));
    if (waitMs > 0) throw limited(waitMs);
    let problem = 'no token of another party';
    for (const token of bearerTokensOf(request)) {
      const proof = await this.#parts.externalSigners.prove(token);
      if ('identity' in proof) {
        const { identity, signerId } = proof;
        return this.#permitted(request, { identity, method: 'ext-jwt', signerId, leaf: undefined });
      }
      ({ problem } = proof);
    }
    throw this.refused(request, { method: 'ext-jwt', problem });
  }

  /** Returns the proof if the policy of the identity permits its method. Throws otherwise. */
  #permitted(request: FastifyRequest, proof: LogInProof): LogInProof {
    const { identity, leaf, method, signerId } = proof;
    const way = { method, signerId, leaf, identityId: identity.id };
    if (!permitsLogIn(authPolicyOf(this.#parts.model.edge, identity.id), proof)) {
      const problem = 'the authentication policy does not permit the method';
      throw this.refused(request, { ...way, problem });
    }
    const authenticatorId = method === 'password' ? passwordAuthenticatorId(identity) : leaf?.fingerprint;
    reportLogIn(this.#parts, request, { ...way, authenticatorId });
    return proof;
  }

  /** Only a peer with a certificate of Frontdoor learns the problem. */
  refused(
    request: FastifyRequest,
    { leaf, problem, identityId = leaf?.id, ...way }: FailedLogIn,
  ): EdgeApiRefusal {
    if (way.method !== undefined)
      reportLogIn(this.#parts, request, {
        method: way.method,
        identityId,
        problem,
        signerId: way.signerId,
        authenticatorId: leaf?.fingerprint,
      });
    this.#parts.log.info({ identity: leaf?.id, address: request.ip, problem }, 'edge API: log-in refused');
    const cause = leaf === undefined ? '' : `: ${problem}`;
    return new EdgeApiRefusal('unauthenticated', 'INVALID_AUTH', `The authentication request failed${cause}`);
  }

  /** Opens a session, with its audit event. Throws if the identity logs in too often. */
  async open(
    request: FastifyRequest,
    proof: LogInProof,
    { configTypes, client }: LogInWish,
    form: Exclude<SessionForm, 'signed'>,
    start: Pick<SessionStart, 'id' | 'token'> = {},
  ): Promise<LiveSession> {
    const { identity, leaf, method, signerId, secondSignerId } = proof;
    const { callers } = this.#parts;
    const waitMs = this.#parts.limits.logIn.take(identity.id);
    if (waitMs > 0) throw limited(waitMs);
    if (leaf !== undefined) callers.saw({ identity, leaf });
    const occurrences = this.#ledger.due(identity.id, request.ip);
    const record = async (trx: StoreTransaction, touch: Touch, sessionId: string): Promise<void> => {
      await putIdentityClient(trx, identity.id, client);
      if (occurrences === 0) return;
      await appendPeerAudit(trx, touch, this.#parts, request, proof, {
        action: 'logIn',
        target: { kind: 'api-session', id: sessionId },
        after: leaf === undefined ? { method } : { fingerprint: leaf.fingerprint },
        occurrences,
      });
    };
    const fingerprint = leaf?.fingerprint ?? '';
    const session = await this.#parts.sessions.create(identity.id, fingerprint, configTypes, form, record, {
      ...start,
      method,
      signerId,
      secondSignerId,
      certificateEndsAtMs: leaf?.notAfterMs,
    });
    this.#ledger.done(identity.id, request.ip, occurrences);
    callers.used(identity.id, request.ip);
    const fields = { identity: identity.id, apiSession: session.id, method, address: request.ip };
    this.#parts.log.info(fields, 'edge API: logged in');
    return session;
  }
}

/** Whether another control plane may have issued the certificate a moment ago, so that it is not in the model yet. */
function isJustIssued(leaf: ProvenLeaf | undefined, nowMs: number): leaf is ProvenLeaf {
  return leaf !== undefined && nowMs < leaf.notBeforeMs + BACKDATE_MS + NEWS_MS;
}
