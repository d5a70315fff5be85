/**
 * Verifies tokens that controllers sign (JWT): those of API sessions and of services. The keys, and the identities that
 * tokens belong to, are those of the data model. Times may differ from the controller's by a few seconds. A token that was
 * verified lasts as long as it had left then, also when the machine's clock is set.
 */
import { errors, jwtVerify, type JWTHeaderParameters, type JWTPayload } from 'jose';
import { LeaseClock, type Clock } from '#base';
import type { ControllerKeys } from '../model/controller-keys.ts';
import type { AccessType } from '../model/service-access.ts';
import type { RevocableToken } from '../model/token-revocations.ts';

export interface AccessToken extends RevocableToken {
  readonly text: string;
  /** SHA-1 fingerprints of the certificates that the session was opened with, in lower-case hex. */
  readonly fingerprints: readonly string[];
  /** In the time of leases. The tolerance is included. */
  readonly expiresAtMs: number;
}

export interface ServiceToken extends RevocableToken {
  readonly serviceId: string;
  readonly type: AccessType;
  /** In the time of leases. The tolerance is included. */
  readonly expiresAtMs: number;
}

export interface TokenFault {
  /** The reason as text. It has nothing of the token. */
  readonly fault: string;
  /** True if a change of the data model may make the token valid. */
  readonly mayChange: boolean;
}

export interface ControllerTokensOptions {
  readonly keys: ControllerKeys;
  /** Returns true if a connected controller announces the host, which its certificate may not name. */
  isAnnouncedHost(host: string): boolean;
  readonly clock: Clock;
}

/** The longest tokens of OpenZiti have a few thousand bytes. */
const MAX_TOKEN_CHARACTERS = 32 * 1024;
const MAX_FINGERPRINTS = 64;
const CLOCK_TOLERANCE_S = 10;
/** `native` is the client of SDKs before 1.0. */
const ACCESS_AUDIENCES = ['openziti', 'native'];
const SERVICE_AUDIENCES = ['openziti'];
const ACCESS_ISSUER_PATH = '/oidc';
const SERVICE_ISSUER_PATH = '/';

class KeyError extends Error {
  readonly mayChange: boolean;

  constructor(reason: string, mayChange: boolean) {
    super(reason);
    this.mayChange = mayChange;
  }
}

/** True for text in the form of a signed token. Tokens of sessions that controllers announce have another form. */
export function isSignedToken(text: string): boolean {
  return text.startsWith('ey') && text.includes('.');
}

export class ControllerTokens {
  readonly #options: ControllerTokensOptions;
  readonly #leases: LeaseClock;

  constructor(options: ControllerTokensOptions) {
    this.#options = options;
    this.#leases = new LeaseClock(options.clock);
  }

  async verifyAccess(text: string): Promise<AccessToken | TokenFault> {
    const claims = await this.#verify(text, ACCESS_AUDIENCES, ACCESS_ISSUER_PATH);
    if (isFault(claims)) return claims;
    if (claims['z_t'] !== 'a') return final('the token is not one of an API session');
    const { sub, jti, z_asid: sessionId, z_cfs: fingerprints } = claims;
    if (!isText(sub) || !isText(jti) || !isText(sessionId)) return final('the token lacks a claim');
    if (!isFingerprints(fingerprints)) return final('the token has malformed fingerprints');
    return { ...this.#timesOf(claims), text, tokenId: jti, sessionId, identityId: sub, fingerprints };
  }

  async verifyService(text: string): Promise<ServiceToken | TokenFault> {
    const claims = await this.#verify(text, SERVICE_AUDIENCES, SERVICE_ISSUER_PATH);
    if (isFault(claims)) return claims;
    if (claims['z_t'] !== 's') return final('the token is not one of a service');
    const { sub, jti, z_asid: sessionId, z_iid: identityId, z_st: type } = claims;
    if (!isText(sub) || !isText(jti) || !isText(sessionId) || !isText(identityId))
      return final('the token lacks a claim');
    if (type !== 'Dial' && type !== 'Bind') return final('the token has an unknown session type');
    return { ...this.#timesOf(claims), serviceId: sub, tokenId: jti, sessionId, identityId, type };
  }

  /**
   * Verifies the token by which a controller confirms that it accepted a one-time password of a session. Returns the time
   * at which it did.
   */
  async verifyTotp(text: string, sessionId: string): Promise<number | TokenFault> {
    const claims = await this.#verify(text, ACCESS_AUDIENCES, undefined);
    if (isFault(claims)) return claims;
    if (claims['z_t'] !== 't') return final('the token is not one of a one-time password');
    if (claims['z_asid'] !== sessionId) return final('the token belongs to another API session');
    return claims.iat! * 1_000;
  }

  nowMs(): number {
    return this.#options.clock.nowMs();
  }

  /** True once a verified token has expired. */
  isOver({ expiresAtMs }: { readonly expiresAtMs: number }): boolean {
    return this.#leases.nowMs() >= expiresAtMs;
  }

  /** Without `issuerPath`, the token may have no expiry, and any issuer. */
  async #verify(
    text: string,
    audience: string[],
    issuerPath: string | undefined,
  ): Promise<JWTPayload | TokenFault> {
    if (text.length > MAX_TOKEN_CHARACTERS) return final('the token is too long');
    try {
      const { payload } = await jwtVerify(text, (header) => this.#keyOf(header), {
        audience,
        clockTolerance: CLOCK_TOLERANCE_S,
        currentDate: new Date(this.#options.clock.nowMs()),
        requiredClaims: issuerPath === undefined ? ['iat'] : ['exp', 'iat'],
      });
      return issuerPath === undefined || this.#isIssuer(payload.iss, issuerPath)
        ? payload
        : { fault: 'the token has another issuer', mayChange: true };
    } catch (error) {
      return faultOf(error);
    }
  }

  #keyOf({ kid, alg }: JWTHeaderParameters) {
    const known = isText(kid) ? this.#options.keys.byId(kid) : undefined;
    if (known === undefined) throw new KeyError('the token is signed by an unknown key', true);
    if (!known.algorithms.includes(alg))
      throw new KeyError('the algorithm of the token does not fit its key', false);
    return known.key;
  }

  #timesOf({ exp, iat }: JWTPayload): { readonly expiresAtMs: number; readonly issuedAtMs: number } {
    const expiresAtMs = (exp! + CLOCK_TOLERANCE_S) * 1_000 - this.#leases.aheadMs;
    return { expiresAtMs, issuedAtMs: iat! * 1_000 };
  }

  #isIssuer(issuer: unknown, path: string): boolean {
    if (!isText(issuer) || !URL.canParse(issuer)) return false;
    const { protocol, hostname, pathname, search, username } = new URL(issuer);
    if (protocol !== 'https:' || pathname !== path || search !== '' || username !== '') return false;
    return this.#options.keys.isControllerHost(hostname) || this.#options.isAnnouncedHost(hostname);
  }
}

export function isFault(outcome: object): outcome is TokenFault {
  return 'fault' in outcome;
}

function final(fault: string): TokenFault {
  return { fault, mayChange: false };
}

function faultOf(error: unknown): TokenFault {
  if (error instanceof KeyError) return { fault: error.message, mayChange: error.mayChange };
  if (error instanceof errors.JWTExpired) return final('the token has expired');
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return final('the signature of the token is wrong');
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') return final('the token is for another audience');
    if (error.claim === 'nbf') return final('the token is not valid yet');
    return final('a claim of the token is missing or malformed');
  }
  return final('the token is malformed');
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isFingerprints(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= MAX_FINGERPRINTS && value.every(isText);
}
