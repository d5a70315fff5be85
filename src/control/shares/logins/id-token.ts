/**
 * Verifies ID tokens (OpenID Connect Core 3.1.3.7), also those of a provider that serves many tenants: its metadata names
 * the issuer `https://…/{tenantid}/v2.0`, and each token names its own tenant in `tid`. Which tenants are admitted is
 * decided afterwards, by the rules of the provider's type.
 */
import { decodeJwt, jwtVerify, type JWTPayload, type JWTVerifyGetKey } from 'jose';
import { CLOCK_SKEW_MS, isIssuedAhead } from '../../credentials/oauth/mod.ts';

export interface IdTokenChecks {
  /** As the metadata names it. */
  readonly issuer: string;
  readonly clientId: string;
  readonly nonce: string;
  readonly algorithms: readonly string[];
  /** Returns keys for a token of the issuer; keys that the provider published for another are left out. */
  readonly keysFor: (isIssuer: (named: string) => boolean) => JWTVerifyGetKey;
  readonly nowMs: number;
}

export type IdTokenClaims = JWTPayload & { readonly sub: string; readonly iat: number };

const TENANT = '{tenantid}';
/** A tenant of Entra ID. Nothing else is put into an issuer. */
const TENANT_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const REQUIRED = ['iss', 'sub', 'aud', 'exp', 'iat', 'nonce'];

/** Whether each token names its issuer by its tenant, so that the library, which knows one issuer, cannot verify it. */
export function servesTenants(issuer: string): boolean {
  return issuer.includes(TENANT);
}

/** Throws an error of the library, or one with a message, if the token does not prove what it states. */
export async function verifyIdToken(token: string, checks: IdTokenChecks): Promise<IdTokenClaims> {
  const { clientId, nonce, nowMs } = checks;
  // Not verified yet: it only chooses the issuer, which the signature and `iss` have to prove.
  const { tid } = decodeJwt(token);
  const issuer = issuerOf(checks.issuer, tid);
  if (issuer === undefined) throw new Error('the ID token names no tenant');
  const keys = checks.keysFor((named) => issuerOf(named, tid) === issuer);
  const { payload } = await jwtVerify(token, keys, {
    issuer,
    audience: clientId,
    algorithms: [...checks.algorithms],
    requiredClaims: REQUIRED,
    clockTolerance: CLOCK_SKEW_MS / 1_000,
    currentDate: new Date(nowMs),
  });
  const { sub, iat, aud, azp } = payload;
  if (typeof sub !== 'string' || typeof iat !== 'number')
    throw new Error('the ID token has no subject or time');
  if (isIssuedAhead(iat, nowMs)) throw issuedAhead(iat, nowMs);
  if (payload['nonce'] !== nonce) throw new Error('the ID token is of another log-in: its nonce differs');
  const isForSeveral = Array.isArray(aud) && aud.length > 1;
  if ((isForSeveral || azp !== undefined) && azp !== clientId)
    throw new Error('the ID token was issued to another client');
  return payload as IdTokenClaims;
}

/** Undefined if the issuer depends on the tenant, and the token names none. */
function issuerOf(named: string, tid: unknown): string | undefined {
  if (!servesTenants(named)) return named;
  return typeof tid === 'string' && TENANT_ID.test(tid) ? named.replace(TENANT, tid) : undefined;
}

function issuedAhead(issuedAtS: number, nowMs: number): Error {
  const [issued, now] = [issuedAtS * 1_000, nowMs].map((ms) => new Date(ms).toISOString());
  return new Error(
    `the ID token was issued at ${issued}, and the clock of this machine says ${now}: compare the clocks of both`,
  );
}
