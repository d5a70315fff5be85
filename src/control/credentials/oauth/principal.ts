/**
 * Authenticates callers of the Management API. A bearer token of Frontdoor is checked against a policy with all fields
 * required, one of a trusted issuer against its configuration, an API account's token against its HMAC. In each
 * case the caller, or the organization that the issuer names, must still exist.
 */
import { decodeJwt, jwtVerify, type JWTVerifyGetKey } from 'jose';
import { FrontdoorError, type Clock } from '#base';
import type { Secrets } from '../../secrets/mod.ts';
import { findOrganization } from '../people/organization-store.ts';
import { ISSUER_CREDENTIAL } from '../accounts/credential-rule.ts';
import { hasCredential, provenBySecret, type CallerKind } from '../accounts/account-store.ts';
import type { CallerDirectory } from '../accounts/caller-directory.ts';
import type { Queries } from '../../store/mod.ts';
import type { AuthorizationForm } from './authorization-policy.ts';
import type { TokenKeys } from './token-keys.ts';
import { TOKEN_LIFETIME_SECONDS } from './token-lifetimes.ts';
import type { TrustedIssuers } from './trusted-issuers.ts';
import type { VerifiedTokens } from './verified-tokens.ts';

export interface Principal {
  readonly kind: CallerKind | 'issuer' | 'person';
  /** Id of an account, client or person; `<issuer>#<sub>` for a caller of a trusted issuer. */
  readonly id: string;
  readonly organizationId: string;
  readonly scopes: readonly string[];
  /** Names what proved the caller (`credential-rule.ts` of the store): what the caller makes ends with it. */
  readonly credential: string;
  /** The session at the console with which the request was made. */
  readonly sessionId?: string | undefined;
  /** Whether the log-in of that session is of the last 15 minutes; undefined without a session. */
  readonly isRecent?: boolean | undefined;
}

/** The requirements for a bearer token. */
export interface TokenPolicy {
  readonly issuer: string;
  readonly audience: string;
  /** {base_url} of other control planes over the same database, whose tokens are accepted too. */
  readonly peers: readonly string[];
  readonly algorithms: readonly ['ES256'];
  readonly type: 'at+jwt';
  readonly clockSkewMs: number;
}

/** Returns the audience of the control plane with this {base_url}. */
export function audienceOf(baseUrl: string): string {
  return `${baseUrl}/frontdoor`;
}

export interface PrincipalSources {
  readonly db: Queries;
  readonly access: CallerDirectory;
  readonly verified: VerifiedTokens<TokenClaims>;
  readonly secrets: Secrets;
  readonly keys: TokenKeys;
  /** Undefined: only our own issuer is trusted. */
  readonly issuers?: TrustedIssuers | undefined;
  readonly clock: Clock;
}

/** RFC 7515: base64url without padding. Other parsers accept several texts for the same token. */
const COMPACT_JWS = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** Returns the caller of a well-formed credential, or undefined if the credential is not valid. */
export async function verifyToken(
  sources: PrincipalSources,
  policy: TokenPolicy,
  credential: Extract<AuthorizationForm, { form: 'bearer' | 'basic' }>,
): Promise<Principal | undefined> {
  if (credential.form === 'basic') {
    const { access, secrets } = sources;
    const asked = access.caller('account', credential.id);
    const proven = provenBySecret(secrets, await asked, credential.secret, sources.clock.nowMs());
    if (proven === undefined) await access.evenOut('account', asked);
    return proven;
  }
  if (!COMPACT_JWS.test(credential.token)) return undefined;
  const issuer = sources.issuers === undefined ? undefined : statedIssuer(credential.token);
  if (issuer !== policy.issuer && sources.issuers?.has(issuer) === true) {
    const vouched = await sources.issuers.verify(issuer, credential.token);
    if (vouched === undefined) return undefined;
    if ((await findOrganization(sources.db, vouched.organizationId)) === undefined) return undefined;
    return { ...vouched, credential: ISSUER_CREDENTIAL };
  }
  const claims = await verifiedClaims(sources, policy, credential.token);
  if (claims === undefined) return undefined;
  const stored = await sources.access.caller(claims.kind, claims.subject);
  if (stored === undefined || !hasCredential(stored, claims.credential, sources.clock.nowMs()))
    return undefined;
  const { caller, mayExchange } = stored;
  if (caller.organizationId !== claims.organizationId || !mayExchange) return undefined;
  const scopes = claims.scopes.filter((scope) => caller.scopes.includes(scope));
  return { ...caller, scopes, credential: claims.credential };
}

/** Returns the issuer that an unverified token names, which only selects the verifier. */
function statedIssuer(token: string): string | undefined {
  try {
    const { iss } = decodeJwt(token);
    return typeof iss === 'string' ? iss : undefined;
  } catch {
    return undefined;
  }
}

export interface TokenClaims {
  readonly subject: string;
  readonly kind: CallerKind;
  readonly organizationId: string;
  readonly scopes: readonly string[];
  /** Names the secret for which the token was issued. */
  readonly credential: string;
}

async function verifiedClaims(
  { keys, clock, verified }: PrincipalSources,
  policy: TokenPolicy,
  token: string,
): Promise<TokenClaims | undefined> {
  const { issuer, audience, peers } = policy;
  const known = verified.get(token);
  if (known !== undefined && known.issuer === issuer && known.audience === audience) {
    const isOver = known.expiresAtMs + policy.clockSkewMs <= clock.nowMs();
    return isOver || keys.byId(known.keyId) === undefined ? undefined : known.claims;
  }
  const keyOf: JWTVerifyGetKey = ({ kid }) => {
    const key = kid === undefined ? undefined : keys.byId(kid);
    if (key === undefined) throw new FrontdoorError('unauthenticated', 'unknown-key', 'unknown key');
    return key.publicKey;
  };
  try {
    const { payload, protectedHeader } = await jwtVerify(token, keyOf, {
      issuer: [issuer, ...peers],
      audience: [audience, ...peers.map(audienceOf)],
      algorithms: [...policy.algorithms],
      typ: policy.type,
      clockTolerance: policy.clockSkewMs / 1_000,
      currentDate: new Date(clock.nowMs()),
      // None of our tokens lives longer, whatever its expiry.
      maxTokenAge: TOKEN_LIFETIME_SECONDS,
      requiredClaims: ['iss', 'sub', 'aud', 'exp', 'iat', 'scope', 'org', 'caller', 'credential'],
    });
    const { sub, scope, org, caller, credential } = payload;
    if (typeof sub !== 'string' || typeof scope !== 'string' || typeof org !== 'string') return undefined;
    if ((caller !== 'client' && caller !== 'account') || typeof credential !== 'string') return undefined;
    const claims: TokenClaims = {
      subject: sub,
      kind: caller,
      organizationId: org,
      scopes: scope.split(' '),
      credential,
    };
    const keyId = protectedHeader.kid!;
    const expiresAtMs = Math.min(payload.exp!, payload.iat! + TOKEN_LIFETIME_SECONDS) * 1_000;
    verified.remember(token, { claims, keyId, issuer, audience, expiresAtMs });
    return claims;
  } catch {
    return undefined;
  }
}
