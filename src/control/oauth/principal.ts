/**
 * Who calls the Management API, proven: the only way in. A bearer token is held to a policy whose every field must be
 * given, an API account's token to its HMAC; either way the caller must still be there and not revoked.
 */
import { jwtVerify, type JWTVerifyGetKey } from 'jose';
import { FrontdoorError, type Clock } from '#base';
import type { Secrets } from '../secrets/secrets.ts';
import { findAccount, findCaller, type Caller } from '../store/account-store.ts';
import type { Queries } from '../store/store.ts';
import type { AuthorizationForm } from './authorization-policy.ts';
import type { TokenKeys } from './token-keys.ts';

export type Principal = Caller;

/** What a bearer token must be. */
export interface TokenPolicy {
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: readonly ['ES256'];
  readonly type: 'at+jwt';
  readonly clockSkewMs: number;
}

export interface PrincipalSources {
  readonly db: Queries;
  readonly secrets: Secrets;
  readonly keys: TokenKeys;
  readonly clock: Clock;
}

/** The caller that a well-formed credential belongs to; undefined for a bad one. */
export async function verifyToken(
  sources: PrincipalSources,
  policy: TokenPolicy,
  credential: Extract<AuthorizationForm, { form: 'bearer' | 'basic' }>,
): Promise<Principal | undefined> {
  if (credential.form === 'basic') {
    return findAccount(sources.db, sources.secrets, credential.id, credential.secret);
  }
  const claims = await verifiedClaims(sources, policy, credential.token);
  if (claims === undefined) return undefined;
  const caller = await findCaller(sources.db, claims.kind, claims.subject);
  if (caller === undefined || caller.organizationId !== claims.organizationId) return undefined;
  return { ...caller, scopes: claims.scopes.filter((scope) => caller.scopes.includes(scope)) };
}

interface Claims {
  readonly subject: string;
  readonly kind: Caller['kind'];
  readonly organizationId: string;
  readonly scopes: readonly string[];
}

async function verifiedClaims(
  { keys, clock }: PrincipalSources,
  policy: TokenPolicy,
  token: string,
): Promise<Claims | undefined> {
  const keyOf: JWTVerifyGetKey = ({ kid }) => {
    const key = kid === undefined ? undefined : keys.byId(kid);
    if (key === undefined) throw new FrontdoorError('unauthenticated', 'unknown_key', 'unknown key');
    return key.publicKey;
  };
  try {
    const { payload } = await jwtVerify(token, keyOf, {
      issuer: policy.issuer,
      audience: policy.audience,
      algorithms: [...policy.algorithms],
      typ: policy.type,
      clockTolerance: policy.clockSkewMs / 1_000,
      currentDate: new Date(clock.nowMs()),
      requiredClaims: ['iss', 'sub', 'aud', 'exp', 'iat', 'scope', 'org', 'caller'],
    });
    const { sub, scope, org, caller } = payload;
    if (typeof sub !== 'string' || typeof scope !== 'string' || typeof org !== 'string') return undefined;
    if (caller !== 'client' && caller !== 'account') return undefined;
    return { subject: sub, kind: caller, organizationId: org, scopes: scope.split(' ') };
  } catch {
    return undefined;
  }
}
