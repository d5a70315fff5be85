/**
 * Whether an SDK may do what a router asks for on its behalf: the API session, the client certificate's leaf, the
 * service session token and the policy must all agree. What the router says of the client proves nothing by itself.
 */
import { EdgeErrorCode, RetryHint } from '#wire';
import type { ApiSession, ApiSessions, OverlayModel, Service } from '../model/mod.ts';

export interface ServiceTokenClaims {
  readonly serviceId: string;
  readonly identityId: string;
  readonly apiSessionId: string;
  readonly type: 'Dial' | 'Bind';
}

/** Undefined: no token of ours, or past its time. Fast for a token that it saw before; never throws. */
export type VerifyServiceToken = (token: string) => ServiceTokenClaims | undefined;

export interface SessionProof {
  readonly apiSessionToken: string;
  readonly sessionToken: string;
  /**
   * SHA-1 of the client's certificates. Ours name the leaf alone, OpenZiti's routers all that the client showed, in no
   * order; the leaf alone counts.
   */
  readonly fingerprints: readonly string[];
}

export type SessionVerdict =
  | { readonly isAllowed: true; readonly session: ApiSession; readonly service: Service }
  | {
      readonly isAllowed: false;
      readonly code: number;
      readonly retryHint: number;
      /** For the SDK. */
      readonly text: string;
      /** For the log and the audit trail. */
      readonly reason: string;
      /** Whose certificate the peer showed; undefined: it is nobody's. */
      readonly identityId: string | undefined;
    };

export class ServiceSessionCheck {
  readonly #model: OverlayModel;
  readonly #sessions: ApiSessions;
  readonly #verify: VerifyServiceToken;
  readonly #authorities: ReadonlySet<string>;

  /** `authorities`: fingerprints of our authority's own certificates, which clients show behind their leaf. */
  constructor(
    model: OverlayModel,
    sessions: ApiSessions,
    verify: VerifyServiceToken,
    authorities: ReadonlySet<string>,
  ) {
    this.#model = model;
    this.#sessions = sessions;
    this.#verify = verify;
    this.#authorities = authorities;
  }

  judge(proof: SessionProof, type: ServiceTokenClaims['type']): SessionVerdict {
    const session = this.#sessions.byToken(proof.apiSessionToken);
    const leaf = this.#leafIn(proof.fingerprints);
    const identityId = leaf === undefined ? undefined : this.#model.identityByFingerprint(leaf)?.id;
    if (session === undefined || leaf === undefined || !session.fingerprints.includes(leaf)) {
      const reason = session === undefined ? 'no-api-session' : 'api-session-of-another';
      const text = 'Invalid API Session';
      return refused(EdgeErrorCode.invalidApiSession, RetryHint.startOver, text, reason, identityId);
    }
    const claims = this.#verify(proof.sessionToken);
    if (claims === undefined) return invalidSession('no-service-session', identityId);
    if (claims.apiSessionId !== session.id || claims.identityId !== session.identityId)
      return invalidSession('service-session-of-another', identityId);
    if (claims.type !== type) {
      const text = `a ${claims.type} session does not ${type.toLowerCase()}`;
      const { notRetriable } = RetryHint;
      return refused(EdgeErrorCode.wrongSessionType, notRetriable, text, 'wrong-session-type', identityId);
    }
    const service = this.#model.service(claims.serviceId);
    if (service === undefined) {
      const text = 'the service is gone';
      return refused(EdgeErrorCode.invalidService, RetryHint.notRetriable, text, 'service-gone', identityId);
    }
    const mayDo =
      type === 'Dial'
        ? this.#model.mayDial(session.identityId, service)
        : this.#model.mayBind(session.identityId, service);
    return mayDo ? { isAllowed: true, session, service } : invalidSession('not-granted', identityId);
  }

  /** Undefined when there are several: one of them may be somebody else's, shown to pass for them. */
  #leafIn(fingerprints: readonly string[]): string | undefined {
    const [leaf, ...others] = fingerprints.filter((fingerprint) => !this.#authorities.has(fingerprint));
    return others.length === 0 ? leaf : undefined;
  }

  /** Whether a service session's log-in still stands. */
  isAlive(sessionToken: string): boolean {
    const claims = this.#verify(sessionToken);
    return claims !== undefined && this.#sessions.byId(claims.apiSessionId) !== undefined;
  }
}

/** SDKs know this text: they ask for a new service session. */
function invalidSession(reason: string, identityId: string | undefined): SessionVerdict {
  return refused(EdgeErrorCode.invalidSession, RetryHint.startOver, 'Invalid Session', reason, identityId);
}

function refused(
  code: number,
  retryHint: number,
  text: string,
  reason: string,
  identityId: string | undefined,
): SessionVerdict {
  return { isAllowed: false, code, retryHint, text, reason, identityId };
}
