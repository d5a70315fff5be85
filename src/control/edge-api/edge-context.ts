/** Shared context of the edge API's routes: the parts that they use, and the two ways to identify a caller. */
import type { Socket } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Clock, Log, TokenBuckets } from '#base';
import type { EgressClient, WebSocketUpgrades } from '#net';
import type {
  EdgeController,
  EdgeRouter,
  FabricEvents,
  GatewayCommands,
  Identity,
  OverlayModel,
  StatusBoard,
} from '../model/mod.ts';
import type { Pki, ProvenLeaf } from '../pki/mod.ts';
import type { Secrets } from '../secrets/mod.ts';
import type { LastUses, Store } from '../store/mod.ts';
import type { ApiSessionStore, LiveSession } from './api-session-store.ts';
import { EdgeApiRefusal, notAuthorized } from './edge-answer.ts';
import type { LogInLedger } from '../audit/mod.ts';
import type { LoginParts } from '../login/mod.ts';
import type { ProvenPeer, PeerIdentities } from './peer-identity.ts';
import type { ExternalIds } from './external-ids.ts';
import type { ExternalSigners } from './external-signers.ts';
import type { PartialLogIns } from './partial-log-ins.ts';
import type { SecondFactors } from './second-factors.ts';
import type { SecondTokens } from './second-tokens.ts';
import type { PasswordLogIns } from './password-log-in.ts';
import type { EdgeTokenKeys } from './edge-token-keys.ts';
import type { ServiceChanges } from './service-changes.ts';
import type { ServiceTokens } from './service-tokens.ts';
import type { SessionTokens } from './session-tokens.ts';

/** The parts that the edge API requires. */
export interface EdgeParts {
  readonly pki: Pki;
  readonly store: Store;
  readonly secrets: Secrets;
  /** Attached to the store, so that it is up to date after a transaction. */
  readonly model: OverlayModel;
  readonly sessions: ApiSessionStore;
  readonly tokens: ServiceTokens;
  readonly sessionTokens: SessionTokens;
  /** The keys of both kinds of tokens. */
  readonly tokenKeys: EdgeTokenKeys;
  readonly status: StatusBoard;
  /** Log-ins at shares. */
  readonly login: LoginParts;
  /** Sends commands to gateways that follow the feed here. */
  readonly gatewayCommands: GatewayCommands;
  /** What administrators follow. */
  readonly events: FabricEvents;
  readonly routers: () => readonly EdgeRouter[];
  /** Whether some host of the service cannot encrypt end to end. */
  readonly hasKeylessHost: (serviceId: string) => boolean;
  /** Domain of the addresses of private shares (`<share>.<domain>`); undefined: they have none. */
  readonly interceptDomain: string | undefined;
  /** Reads an identity from the store into the model. */
  readonly loadIdentity: (id: string) => Promise<void>;
  /** Every control plane over this database; this one alone if it shares none. */
  readonly controllers: () => readonly EdgeController[];
  /** Returns the URLs under which gateways serve a public share's host. */
  readonly frontendUrls: (host: string) => readonly string[];
  /** `https://host:port` as clients dial it. Called for each response. */
  readonly apiUrl: () => string;
  /** Fetches the keys of signers of other parties. */
  readonly egress: Pick<EgressClient, 'get'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface EdgeApiContext extends EdgeParts {
  readonly changes: ServiceChanges;
  readonly peers: PeerIdentities;
  readonly enrollLimit: TokenBuckets;
  readonly logInLimit: TokenBuckets;
  /** Unknown tokens of peers without a certificate that are searched in the database, per address. */
  readonly tokenLimit: TokenBuckets;
  readonly logIns: LogInLedger;
  /** New at each start; part of every response. */
  readonly instanceId: string;
  /** Whether the edge management API is served. */
  readonly hasManagement: boolean;
  /** Called with the certificate that an identity uses, so that the one it replaced can be removed. */
  readonly sawPeer: (peer: ProvenPeer) => void;
  /** By id of the identity. */
  readonly identityUses: Pick<LastUses, 'saw'>;
  readonly passwords: PasswordLogIns;
  readonly externalIds: ExternalIds;
  readonly externalSigners: ExternalSigners;
  readonly secondFactors: SecondFactors;
  readonly secondTokens: SecondTokens;
  readonly partialLogIns: PartialLogIns;
  /** For routes whose requests become WebSockets. */
  readonly webSockets: WebSocketUpgrades;
  /** The connection of a caller without a certificate has proven itself by a session. */
  readonly provePeer: (socket: Socket) => void;
  /** Newcomers do not displace the connection of a log-in that waits, until the answer is called. */
  readonly holdPeer: (socket: Socket) => () => void;
}

export interface EdgeCaller {
  readonly identity: Identity;
  /** The certificate that the caller presented; undefined if its session needs none. */
  readonly leaf: ProvenLeaf | undefined;
  readonly session: LiveSession;
  /** The token that the caller sent. */
  readonly token: string;
}

/** Returns the identity that the TLS peer proved. */
export function peerOf(context: EdgeApiContext, request: FastifyRequest): ProvenPeer {
  const proof = context.peers.of(request.raw.socket);
  if ('problem' in proof) {
    const { problem, signed } = proof;
    const fields = { identity: signed?.id, address: request.ip, problem };
    if (signed === undefined) context.log.debug(fields, 'edge API: caller refused');
    else context.log.info(fields, 'edge API: caller refused');
    throw notAuthorized(signed === undefined ? undefined : problem);
  }
  context.sawPeer(proof.peer);
  context.identityUses.saw(proof.peer.identity.id, request.ip);
  return proof.peer;
}

/** Proves the peer like `peerOf`, and refuses peers whose identity is not of this kind. */
export function peerOfKind(
  context: EdgeApiContext,
  request: FastifyRequest,
  kind: ProvenPeer['identity']['kind'],
): ProvenPeer {
  const peer = peerOf(context, request);
  if (peer.identity.kind !== kind) {
    throw new EdgeApiRefusal('forbidden', 'FORBIDDEN', `This operation is for identities of kind ${kind}`);
  }
  return peer;
}

/** Returns the session of a token that is valid without a certificate. */
export function bearerSessionOf(context: EdgeApiContext, token: string): LiveSession | undefined {
  const session = token === '' ? undefined : context.sessions.byToken(token);
  return session === undefined || session.method === 'cert' ? undefined : session;
}

/**
 * Returns the API session of the call. The token of a log-in by certificate is accepted only with a certificate of its
 * identity, no token with a certificate of another one, and none without the token of another party that the authentication
 * policy demands.
 */
export function callerOf(context: EdgeApiContext, request: FastifyRequest): EdgeCaller {
  const caller = sessionCallerOf(context, request);
  if (missingSignerOf(context, request, caller.session) === undefined) return caller;
  const problem = 'a token of the signer that the authentication policy requires is missing';
  context.log.info(
    { identity: caller.identity.id, address: request.ip, problem },
    'edge API: caller refused',
  );
  throw notAuthorized(problem);
}

/** Returns the signer whose token the call lacks; undefined if it needs none or has one. */
export function missingSignerOf(
  { secondTokens }: EdgeApiContext,
  request: FastifyRequest,
  { identityId, form, secondSignerId }: LiveSession,
): string | undefined {
  const required = secondTokens.requiredOf(identityId);
  const isProven =
    form === 'signed' ? secondSignerId === required : secondTokens.isProven(request, identityId);
  return isProven ? undefined : required;
}

/** Returns the API session as `callerOf`, also without a token of another party. */
export function sessionCallerOf(context: EdgeApiContext, request: FastifyRequest): EdgeCaller {
  const token = tokenOf(request);
  const bearer = bearerSessionOf(context, token);
  const bearerIdentity = bearer && context.model.identity(bearer.identityId);
  if (
    bearer !== undefined &&
    bearerIdentity !== undefined &&
    'problem' in context.peers.of(request.raw.socket)
  ) {
    context.provePeer(request.raw.socket);
    context.sessions.touch([token]);
    context.identityUses.saw(bearerIdentity.id, request.ip);
    return { identity: bearerIdentity, leaf: undefined, session: bearer, token };
  }
  const session = token === '' ? undefined : context.sessions.byToken(token);
  const peer = peerOf(context, request);
  const problem =
    session === undefined
      ? 'there is no such session'
      : peer.identity.id === session.identityId
        ? undefined
        : 'the session belongs to another identity';
  if (session === undefined || problem !== undefined) {
    const fields = { identity: peer.identity.id, address: request.ip, problem };
    context.log.info(fields, 'edge API: caller refused');
    const refusal = notAuthorized(problem);
    refusal.reason = session === undefined ? 'no-api-session' : 'api-session-of-another';
    throw refusal;
  }
  context.sessions.touch([token]);
  return { ...peer, session, token };
}

/** The id of the identity that calls, at routes that serve everybody; undefined for a stranger. */
export function knownCallerOf(context: EdgeApiContext, request: FastifyRequest): string | undefined {
  const proof = context.peers.of(request.raw.socket);
  return 'peer' in proof ? proof.peer.identity.id : bearerSessionOf(context, tokenOf(request))?.identityId;
}

/** The opaque token of a session, or a signed one (`Authorization: Bearer`, of which clients may send several). */
export function tokenOf(request: FastifyRequest): string {
  const opaque = request.headers['zt-session'];
  if (typeof opaque === 'string') return opaque;
  return /^bearer +([A-Za-z0-9._-]+)/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
}

/** Returns the decoded query. */
export function queryOf(request: FastifyRequest): URLSearchParams {
  return request.query as URLSearchParams;
}
