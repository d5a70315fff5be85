/**
 * Who an identity provider says that somebody is, as the product goes on with it: an e-mail only when it is verified,
 * claims without those of the protocol and no larger than their bound.
 */
import { canonicalEmail, MAX_IDENTITY_BYTES, type CallerIdentity } from '#domain';

export interface ProvenPerson {
  readonly subject: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly groups: readonly string[];
  readonly claims: Readonly<Record<string, unknown>>;
}

export type ProviderClaims = Readonly<Record<string, unknown>>;

const MAX_SUBJECT_CHARS = 255;
const MAX_NAME_CHARS = 255;
const MAX_DEPTH = 4;
/** They say something of the token, not of the person. */
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
/** Kept first when not all fit. */
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
  /** What the provider says nothing about counts as verified. */
  readonly trustsUnsaid: boolean;
}

/** `sources`: claims of the ID token and of the userinfo endpoint, the more trusted first. */
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

export function identityOf(person: ProvenPerson, providerId: string): CallerIdentity {
  return { providerId, kind: 'session', ...person };
}

/** As rules compare them: in lower case, letters beyond ASCII never folded onto it. Null: none, or none that counts. */
export function verifiedEmail(claims: ProviderClaims, trustsUnsaid: boolean): string | null {
  const { email, email_verified: isVerified } = claims;
  // As text it was not checked by anybody who knows the type of the claim (OpenID Connect Core 5.1: a boolean).
  const isGood = isVerified === true || (isVerified === undefined && trustsUnsaid);
  return isGood && typeof email === 'string' ? (canonicalEmail(email) ?? null) : null;
}

/** Whole claims, as many as fit: half a list of groups could be the wrong half. */
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
