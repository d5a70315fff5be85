/** Finds the caller of a request: the identity that its TLS peer proved, and the session of its token. */
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Log } from '#base';
import type { UnprovenConnections } from '#net';
import type { Identity, OverlayModel } from '../model/overlay-model.ts';
import type { ProvenLeaf } from '../../pki/mod.ts';
import type { LastUses } from '../../store/mod.ts';
import type { ApiSessionStore, LiveSession } from './api-session-store.ts';
import { EdgeApiRefusal, notAuthorized } from './edge-answer.ts';
import type { PeerIdentities, ProvenPeer } from './peer-identity.ts';
import type { ReplacedCertificates } from './replaced-certificates.ts';
import type { SecondTokens } from './second-tokens.ts';

export interface CallerParts {
  readonly peers: PeerIdentities;
  readonly connections: Pick<UnprovenConnections, 'prove' | 'hold'>;
  readonly sessions: ApiSessionStore;
  readonly secondTokens: SecondTokens;
  readonly replaced: Pick<ReplacedCertificates, 'saw'>;
  /** By id of the identity. */
  readonly uses: Pick<LastUses, 'saw'>;
  readonly model: OverlayModel;
  readonly log: Log;
}

export interface EdgeCaller {
  readonly identity: Identity;
  /** The certificate that the caller presented; undefined if its session needs none. */
  readonly leaf: ProvenLeaf | undefined;
  readonly session: LiveSession;
  /** The token that the caller sent. */
  readonly token: string;
}

export class Callers {
  readonly peers: PeerIdentities;
  readonly #parts: CallerParts;

  constructor(parts: CallerParts) {
    this.peers = parts.peers;
    this.#parts = parts;
  }

  /** Must be called with the certificate that an identity uses, so that the one that it replaced can be removed. */
  saw(peer: ProvenPeer): void {
    if (peer.leaf.authorityId === undefined) this.#parts.replaced.saw(peer);
  }

  /** The identity has made a call. */
  used(identityId: string, address: string): void {
    this.#parts.uses.saw(identityId, address);
  }

  /** The connection of a caller has proven itself by a session. */
  prove(socket: Socket): void {
    this.#parts.connections.prove(socket);
  }

  /** Newcomers do not displace the connection of a log-in that waits, until the answer is called. */
  hold(socket: Socket): () => void {
    return this.#parts.connections.hold(socket);
  }

  /** Returns the identity that the TLS peer proved. */
  peerOf(request: FastifyRequest): ProvenPeer {
    const proof = this.peers.of(request.raw.socket);
    if ('problem' in proof) {
      const { problem, signed } = proof;
      const fields = { identity: signed?.id, address: request.ip, problem };
      if (signed === undefined) this.#parts.log.debug(fields, 'edge API: caller refused');
      else this.#parts.log.info(fields, 'edge API: caller refused');
      throw notAuthorized(signed === undefined ? undefined : problem);
    }
    this.saw(proof.peer);
    this.used(proof.peer.identity.id, request.ip);
    return proof.peer;
  }

  /** Proves the peer like `peerOf`, and refuses peers whose identity is not of this kind. */
  peerOfKind(request: FastifyRequest, kind: ProvenPeer['identity']['kind']): ProvenPeer {
    const peer = this.peerOf(request);
    if (peer.identity.kind !== kind) {
      throw new EdgeApiRefusal('forbidden', 'FORBIDDEN', `This operation is for identities of kind ${kind}`);
    }
    return peer;
  }

  /** Returns the session of a token that is valid without a certificate. */
  bearerSessionOf(token: string): LiveSession | undefined {
    const session = token === '' ? undefined : this.#parts.sessions.byToken(token);
    return session === undefined || session.method === 'cert' ? undefined : session;
  }

  /**
   * Returns the API session of the call. The token of a log-in by certificate is accepted only with a certificate of its
   * identity, no token with a certificate of another one, and none without the token of another party that the authentication
   * policy demands.
   */
  callerOf(request: FastifyRequest): EdgeCaller {
    const caller = this.sessionCallerOf(request);
    if (this.missingSignerOf(request, caller.session) === undefined) return caller;
    const problem = 'a token of the signer that the authentication policy requires is missing';
    this.#parts.log.info(
      { identity: caller.identity.id, address: request.ip, problem },
      'edge API: caller refused',
    );
    throw notAuthorized(problem);
  }

  /** Returns the signer whose token the call lacks; undefined if it needs none or has one. */
  missingSignerOf(
    request: FastifyRequest,
    { identityId, form, secondSignerId }: LiveSession,
  ): string | undefined {
    const { secondTokens } = this.#parts;
    const required = secondTokens.requiredOf(identityId);
    const isProven =
      form === 'signed' ? secondSignerId === required : secondTokens.isProven(request, identityId);
    return isProven ? undefined : required;
  }

  /** Returns the API session as `callerOf`, also without a token of another party. */
  sessionCallerOf(request: FastifyRequest): EdgeCaller {
    const token = tokenOf(request);
    const bearer = this.bearerSessionOf(token);
    const bearerIdentity = bearer && this.#parts.model.identity(bearer.identityId);
    if (
      bearer !== undefined &&
      bearerIdentity !== undefined &&
      'problem' in this.peers.of(request.raw.socket)
    ) {
      this.#parts.connections.prove(request.raw.socket);
      this.#parts.sessions.touch([token]);
      this.used(bearerIdentity.id, request.ip);
      return { identity: bearerIdentity, leaf: undefined, session: bearer, token };
    }
    const session = token === '' ? undefined : this.#parts.sessions.byToken(token);
    const peer = this.peerOf(request);
    const problem =
      session === undefined
        ? 'there is no such session'
        : peer.identity.id === session.identityId
          ? undefined
          : 'the session belongs to another identity';
    if (session === undefined || problem !== undefined) {
      const fields = { identity: peer.identity.id, address: request.ip, problem };
      this.#parts.log.info(fields, 'edge API: caller refused');
      const refusal = notAuthorized(problem);
      refusal.reason = session === undefined ? 'no-api-session' : 'api-session-of-another';
      throw refusal;
    }
    this.#parts.sessions.touch([token]);
    return { ...peer, session, token };
  }

  /** The id of the identity that calls, at routes that serve everyone; undefined for a stranger. */
  knownCallerOf(request: FastifyRequest): string | undefined {
    const proof = this.peers.of(request.raw.socket);
    return 'peer' in proof ? proof.peer.identity.id : this.bearerSessionOf(tokenOf(request))?.identityId;
  }
}

/** The opaque token of a session, or a signed one (`Authorization: Bearer`, of which clients may send several). */
export function tokenOf(request: FastifyRequest): string {
  const opaque = request.headers['zt-session'];
  if (typeof opaque === 'string') return opaque;
  return /^bearer +([A-Za-z0-9._-]+)/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
}
