/**
 * Authorizes dials and binds of SDKs whose sessions are proven by tokens: controllers check only the tokens of these,
 * and the router has to check the policies of the data model. Those of announced sessions are checked by controllers.
 */
import type { DataModel } from '../model/data-model.ts';
import { accessFault, type AccessType } from '../model/service-access.ts';
import { isRevoked } from '../model/token-revocations.ts';
import { isFault, isSignedToken, type ControllerTokens, type ServiceToken } from './controller-tokens.ts';
import type { TokenSession } from './token-session.ts';

/** What an SDK may do with a connection, for as long as the policies grant it. */
export interface ConnectionGrant {
  readonly session: TokenSession;
  readonly serviceId: string;
  readonly type: AccessType;
  /** Undefined where the SDK named the service by its id. */
  readonly token: ServiceToken | undefined;
}

export interface GrantRefusal {
  readonly fault: string;
}

/** Verified tokens per session. SDKs use the token of a service for many dials. */
const MAX_KNOWN_TOKENS = 256;

export class ServiceGrants {
  readonly #model: DataModel;
  readonly #tokens: ControllerTokens;
  readonly #known = new WeakMap<TokenSession, Map<string, ServiceToken>>();

  constructor(model: DataModel, tokens: ControllerTokens) {
    this.#model = model;
    this.#tokens = tokens;
  }

  /** `token` is the body of a Connect or Bind. Never rejects. */
  async grant(
    session: TokenSession,
    token: string,
    type: AccessType,
  ): Promise<ConnectionGrant | GrantRefusal> {
    const grant = isSignedToken(token)
      ? await this.#ofToken(session, token, type)
      : this.#ofServiceId(session, token, type);
    if ('fault' in grant) return grant;
    const fault = this.faultOf(grant);
    return fault === undefined ? grant : { fault };
  }

  /** Returns why a grant is over, or undefined while it holds. */
  faultOf({ session, serviceId, type, token }: ConnectionGrant): string | undefined {
    if (token !== undefined && isRevoked(this.#model, token)) return 'the service session is revoked';
    const device = { posture: session.posture, nowMs: this.#tokens.nowMs() };
    return accessFault(this.#model, session.identityId, serviceId, type, device);
  }

  async #ofToken(
    session: TokenSession,
    text: string,
    type: AccessType,
  ): Promise<ConnectionGrant | GrantRefusal> {
    const token = await this.#verified(session, text);
    if ('fault' in token) return token;
    if (token.sessionId !== session.id || token.identityId !== session.identityId)
      return { fault: 'the service session belongs to another API session' };
    if (token.type !== type) return { fault: `invalid session type: expected ${type}, got ${token.type}` };
    return { session, serviceId: token.serviceId, type, token };
  }

  #ofServiceId(session: TokenSession, serviceId: string, type: AccessType): ConnectionGrant | GrantRefusal {
    if (type === 'Dial' && this.#model.entities('service').has(serviceId))
      return { session, serviceId, type, token: undefined };
    return { fault: 'unable to get service token either by JWT parsing or id lookup' };
  }

  async #verified(session: TokenSession, text: string): Promise<ServiceToken | GrantRefusal> {
    const known = this.#known.get(session) ?? new Map<string, ServiceToken>();
    this.#known.set(session, known);
    const found = known.get(text);
    if (found !== undefined && !this.#tokens.isOver(found)) return found;
    const token = await this.#tokens.verifyService(text);
    if (isFault(token)) return { fault: `invalid service session: ${token.fault}` };
    if (known.size >= MAX_KNOWN_TOKENS) known.delete(known.keys().next().value!);
    known.set(text, token);
    return token;
  }
}
