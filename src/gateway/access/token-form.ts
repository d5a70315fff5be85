/**
 * Checks the form of a bearer token before any signature is computed: a compact JWS whose header names its key at
 * most by id, with well-formed claims. RFC 7515, 7519 and 8725, without their leniencies. `token-check.ts`
 * verifies the signature.
 */
import { canonicalEmail, type CallerIdentity } from '#domain/access';

export const MAX_TOKEN = 8_192;
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
/** Asymmetric algorithms only. */
const ALGORITHMS = /^(?:RS256|RS384|RS512|PS256|PS384|PS512|ES256|ES384|ES512|EdDSA|Ed25519)$/;
/** Other header parameters either name a key or change how the rest is read. */
const HEADER_NAMES: ReadonlySet<string> = new Set(['alg', 'kid', 'typ', 'x5t', 'x5t#S256', 'cty']);
const TYPES = /^(?:jwt|(?:application\/)?at\+jwt|application\/jwt)$/i;
const MAX_KID = 256;
const MAX_SUBJECT = 512;
/** The last second of the year 9999. */
const MAX_TIME_S = 253_402_300_799;

export interface TokenForm {
  readonly algorithm: string;
  readonly kid: string | undefined;
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly subject: string;
  /** Unix seconds. */
  readonly expiresAtS: number;
  readonly notBeforeS: number;
  readonly claims: Readonly<Record<string, unknown>>;
}

export function looksLikeToken(text: string): boolean {
  return text.startsWith('ey') && COMPACT.test(text);
}

export function isAsymmetric(algorithm: string): boolean {
  return ALGORITHMS.test(algorithm);
}

/** Returns undefined for a token that cannot be valid. */
export function readToken(text: string): TokenForm | undefined {
  if (text.length > MAX_TOKEN || !COMPACT.test(text)) return undefined;
  const [first = '', second = '', signature = ''] = text.split('.');
  if (!isCanonical(signature, Buffer.from(signature, 'base64url'))) return undefined;
  const header = objectOf(first);
  const claims = objectOf(second);
  if (header === undefined || claims === undefined) return undefined;
  const { alg, kid, typ } = header;
  if (!Object.keys(header).every((name) => HEADER_NAMES.has(name))) return undefined;
  if (typeof alg !== 'string' || !isAsymmetric(alg)) return undefined;
  if (kid !== undefined && (typeof kid !== 'string' || kid === '' || kid.length > MAX_KID)) return undefined;
  if (typ !== undefined && (typeof typ !== 'string' || !TYPES.test(typ))) return undefined;
  const { iss, sub, aud, azp, exp, nbf, iat } = claims;
  const audiences = typeof aud === 'string' ? [aud] : aud;
  if (typeof iss !== 'string' || !isTexts(audiences)) return undefined;
  if (typeof sub !== 'string' || sub === '' || sub.length > MAX_SUBJECT) return undefined;
  // A token with several audiences must name the one that received it.
  if (audiences.length !== 1 && (typeof azp !== 'string' || !audiences.includes(azp))) return undefined;
  if (!isTime(exp) || (nbf !== undefined && !isTime(nbf)) || (iat !== undefined && !isTime(iat)))
    return undefined;
  return {
    algorithm: alg,
    kid,
    issuer: iss,
    audiences: audiences.length === 1 ? audiences : [azp as string],
    subject: sub,
    expiresAtS: exp,
    // A token cannot have been issued later than now. An issuer whose clock is ahead, or a forger, is refused.
    notBeforeS: Math.max(nbf ?? 0, iat ?? 0),
    claims,
  };
}

export function identityOf(form: TokenForm, providerId: string): CallerIdentity {
  const { email, email_verified: isVerified, name, groups } = form.claims;
  return {
    providerId,
    kind: 'token',
    subject: form.subject,
    email: isVerified === true && typeof email === 'string' ? (canonicalEmail(email) ?? null) : null,
    name: typeof name === 'string' ? name : null,
    groups: isTexts(groups) ? groups : [],
    claims: form.claims,
  };
}

function objectOf(part: string): Record<string, unknown> | undefined {
  const bytes = Buffer.from(part, 'base64url');
  if (!isCanonical(part, bytes)) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value) || hasDoubledName(text))
      return undefined;
    return value as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** Only one encoding of the same bytes is accepted. */
function isCanonical(text: string, bytes: Buffer): boolean {
  return bytes.toString('base64url') === text;
}

/** Readers disagree about repeated member names, so they are refused. `json` is well-formed. */
function hasDoubledName(json: string): boolean {
  const open: (Set<string> | undefined)[] = [];
  for (const [token, , isName] of json.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (isName !== undefined) {
      const name = String(JSON.parse(token.slice(0, token.lastIndexOf('"') + 1)));
      const names = open.at(-1);
      if (names?.has(name) === true) return true;
      names?.add(name);
    }
  }
  return false;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string');
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= MAX_TIME_S;
}
