/**
 * Checks a router's request on behalf of an SDK: the API session, the client certificate's leaf, the service
 * session token, if the request has one, and the policy must all agree. The router's statements about the client
 * prove nothing by themselves.
 */
import type { Clock } from '#base';
import { EdgeErrorCode, RetryHint, type CircuitRequestV3 } from '#wire/circuits';
import type { ApiSession, ApiSessions, ServiceGrant } from '../model/api-sessions.ts';
import type { OverlayModel } from '../model/overlay-model.ts';
import type { Service } from '../model/service.ts';
import { passesPosture } from './posture-access.ts';

/**
 * Returns undefined if the token is not ours, or has expired. Fast for a token that was verified before; never
 * throws.
 */
export type VerifyServiceToken = (token: string) => ServiceGrant | undefined;

/** Identifies the client. */
interface ClientProof {
  readonly apiSessionToken: string;
  /**
   * SHA-1 of the client's certificates. Our routers send only the leaf, OpenZiti's all certificates in any order;
   * only the leaf counts.
   */
  readonly fingerprints: readonly string[];
}

export interface SessionProof extends ClientProof {
  readonly sessionToken: string;
}

export type SessionVerdict =
  | { readonly isAllowed: true; readonly session: ApiSession; readonly service: Service }
  | {
      readonly isAllowed: false;
      readonly code: number;
      readonly retryHint: number;
      /** Text for the SDK. */
      readonly text: string;
      /** Reason for the log and the audit trail. */
      readonly reason: string;
      /** The identity of the presented certificate; undefined if it belongs to none. */
      readonly identityId: string | undefined;
    };

type RefusedSession = Extract<SessionVerdict, { readonly isAllowed: false }>;

export class ServiceSessionCheck {
  readonly #model: OverlayModel;
  readonly #sessions: ApiSessions;
  readonly #verify: VerifyServiceToken;
  readonly #isAuthority: (fingerprint: string) => boolean;
  readonly #clock: Clock;

  /** `isAuthority` knows the certificates of our own authorities, which clients send after their leaf. */
  constructor(
    model: OverlayModel,
    sessions: ApiSessions,
    verify: VerifyServiceToken,
    isAuthority: (fingerprint: string) => boolean,
    clock: Clock,
  ) {
    this.#clock = clock;
    this.#model = model;
    this.#sessions = sessions;
    this.#verify = verify;
    this.#isAuthority = isAuthority;
  }

  /** `routerId`: the router that the SDK uses. */
  judge(proof: SessionProof, type: ServiceGrant['type'], routerId: string): SessionVerdict {
    const client = this.#judgeClient(proof);
    if ('isAllowed' in client) return client;
    const { session, identityId } = client;
    const claims = this.#verify(proof.sessionToken);
    if (claims === undefined) return invalidSession('no-service-session', identityId);
    if (claims.apiSessionId !== session.id || claims.identityId !== session.identityId)
      return invalidSession('service-session-of-another', identityId);
    if (claims.type !== type) {
      const text = `a ${claims.type} session does not ${type.toLowerCase()}`;
      const { notRetriable } = RetryHint;
      return refused(EdgeErrorCode.wrongSessionType, notRetriable, text, 'wrong-session-type', identityId);
    }
    return this.#judgeService(session, claims.serviceId, type, routerId);
  }

  /**
   * Judges a dial without a service session. The router has evaluated the posture of the client, which only sessions
   * of OpenID Connect send to routers, so no other session is accepted.
   */
  judgeDirectDial(request: CircuitRequestV3, routerId: string): SessionVerdict {
    const client = this.#judgeClient(request);
    if ('isAllowed' in client) return client;
    const { session, identityId } = client;
    if (!session.isSigned || session.identityId !== request.identityId)
      return invalidApiSession(
        session.isSigned ? 'api-session-of-another' : 'api-session-without-posture',
        identityId,
      );
    return this.#judgeService(session, request.serviceId, 'Dial', routerId);
  }

  #judgeClient(
    proof: ClientProof,
  ): { readonly session: ApiSession; readonly identityId: string | undefined } | RefusedSession {
    const session = this.#sessions.byToken(proof.apiSessionToken);
    const leaf = this.#leafIn(proof.fingerprints);
    const identityId = leaf === undefined ? undefined : this.#model.identityByFingerprint(leaf)?.id;
    if (session === undefined || leaf === undefined || !session.fingerprints.includes(leaf))
      return invalidApiSession(
        session === undefined ? 'no-api-session' : 'api-session-of-another',
        identityId,
      );
    return { session, identityId };
  }

  #judgeService(
    session: ApiSession,
    serviceId: string,
    type: ServiceGrant['type'],
    routerId: string,
  ): SessionVerdict {
    const { identityId } = session;
    const service = this.#model.service(serviceId);
    if (service === undefined) {
      const text = 'the service was deleted';
      return refused(EdgeErrorCode.invalidService, RetryHint.notRetriable, text, 'service-gone', identityId);
    }
    const mayDo =
      type === 'Dial' ? this.#model.mayDial(identityId, service) : this.#model.mayBind(identityId, service);
    if (!mayDo) return invalidSession('not-granted', identityId);
    // The SDK asks for a service session again, which is refused with the failed checks.
    if (!passesPosture(this.#model, { type, identityId, serviceId }, session, this.#clock.nowMs()))
      return invalidSession('posture', identityId);
    if (!this.#model.mayUseRouter(identityId, service, routerId))
      return invalidSession('router-not-granted', identityId);
    return { isAllowed: true, session, service };
  }

  /** Returns undefined if there are several, because one of them may belong to another identity. */
  #leafIn(fingerprints: readonly string[]): string | undefined {
    const [leaf, ...others] = fingerprints.filter((fingerprint) => !this.#isAuthority(fingerprint));
    return others.length === 0 ? leaf : undefined;
  }

  /** Whether the log-in of a service session is still valid. */
  isAlive(sessionToken: string): boolean {
    const claims = this.#verify(sessionToken);
    return claims !== undefined && this.#sessions.byId(claims.apiSessionId) !== undefined;
  }
}

/** SDKs log in again. */
function invalidApiSession(reason: string, identityId: string | undefined): RefusedSession {
  const { invalidApiSession: code } = EdgeErrorCode;
  return refused(code, RetryHint.startOver, 'Invalid API Session', reason, identityId);
}

/** SDKs know this text, and request a new service session. */
function invalidSession(reason: string, identityId: string | undefined): RefusedSession {
  return refused(EdgeErrorCode.invalidSession, RetryHint.startOver, 'Invalid Session', reason, identityId);
}

function refused(
  code: number,
  retryHint: number,
  text: string,
  reason: string,
  identityId: string | undefined,
): RefusedSession {
  return { isAllowed: false, code, retryHint, text, reason, identityId };
}
