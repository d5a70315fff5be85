/**
 * The person in an identity provider's response, reduced to what the product uses: an e-mail address only if it
 * is verified, claims without those of the protocol and within a size limit.
 */
import { canonicalEmail, MAX_IDENTITY_BYTES, type CallerIdentity } from '#domain/access';
import type { ProviderClaims } from '#domain/provider-types';

export interface ProvenPerson {
  readonly subject: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly groups: readonly string[];
  readonly claims: Readonly<Record<string, unknown>>;
  /** Time of the log-in at the provider, if the provider reports it (`auth_time`). */
  readonly authenticatedAtMs?: number | undefined;
}

const MAX_SUBJECT_CHARS = 255;
const MAX_NAME_CHARS = 255;
const MAX_DEPTH = 4;
/** Claims about the token, not about the person. */
const PROTOCOL_CLAIMS: ReadonlySet<string> = new Set([
  'iss',
  'aud',
  'azp',
  'exp',
  'iat',
  'nbf',
  'jti',
  'nonce',
  'at_hash',
  'c_hash',
  's_hash',
  'auth_time',
  'sid',
]);
/** Kept first if not all claims fit. */
const FIRST_CLAIMS = [
  'sub',
  'groups',
  'roles',
  'hd',
  'preferred_username',
  'email',
  'email_verified',
  'name',
];

export interface EmailRule {
  /** Whether an address counts as verified if the provider makes no statement. */
  readonly trustsUnsaid: boolean;
}

/** `sources` are claims of the ID token and of the userinfo endpoint, the more trusted first. */
export function personOf(
  subject: string,
  sources: readonly ProviderClaims[],
  { trustsUnsaid }: EmailRule,
): ProvenPerson | undefined {
  if (subject === '' || subject.length > MAX_SUBJECT_CHARS) return undefined;
  const email = sources.map((claims) => verifiedEmail(claims, trustsUnsaid)).find((found) => found !== null);
  const claims = bounded(Object.assign({}, ...sources.toReversed()) as ProviderClaims);
  const { name, groups } = claims;
  return {
    subject,
    email: email ?? null,
    name: typeof name === 'string' && name !== '' ? name.slice(0, MAX_NAME_CHARS) : null,
    groups: typeof groups === 'string' ? [groups] : Array.isArray(groups) ? groups.filter(isText) : [],
    claims,
  };
}

export function identityOf(
  { subject, email, name, groups, claims }: ProvenPerson,
  providerId: string,
): CallerIdentity {
  return { providerId, kind: 'session', subject, email, name, groups, claims };
}

/**
 * Returns the form that rules compare: lower case, without folding letters beyond ASCII. Null if there is none,
 * or it is not verified.
 */
export function verifiedEmail(claims: ProviderClaims, trustsUnsaid: boolean): string | null {
  const { email, email_verified: isVerified } = claims;
  // A text instead of a boolean was not checked by software that knows the claim's type (OpenID Connect Core
  // 5.1).
  const isGood = isVerified === true || (isVerified === undefined && trustsUnsaid);
  return isGood && typeof email === 'string' ? (canonicalEmail(email) ?? null) : null;
}

/** Keeps whole claims as far as they fit, because a truncated list of groups could be misleading. */
function bounded(claims: ProviderClaims): ProviderClaims {
  const kept: Record<string, unknown> = {};
  let left = MAX_IDENTITY_BYTES - 2;
  for (const name of new Set([...FIRST_CLAIMS, ...Object.keys(claims)])) {
    const value = claims[name];
    if (!Object.hasOwn(claims, name) || PROTOCOL_CLAIMS.has(name) || !isPlain(value, 0)) continue;
    const bytes = Buffer.byteLength(JSON.stringify({ [name]: value })) - 1;
    if (bytes > left) continue;
    left -= bytes;
    Object.defineProperty(kept, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return kept;
}

/** Texts, numbers, booleans, and lists and objects of those. */
function isPlain(value: unknown, depth: number): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') return true;
  if (typeof value !== 'object' || value === null || depth === MAX_DEPTH) return false;
  return Object.values(value).every((inner) => isPlain(inner, depth + 1));
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
