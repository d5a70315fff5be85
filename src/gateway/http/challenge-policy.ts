/**
 * The path at which a certificate authority asks whether a name is ours (RFC 8555 §8.3). The answer depends on nothing
 * but the token and the account's key, so every process with that key gives it, and nothing is kept per order.
 */

export const CHALLENGE_PREFIX = '/.well-known/acme-challenge/';
/** Base64url. Authorities use 22 characters or more, which 128 random bits take. */
const TOKEN = /^[A-Za-z0-9_-]{20,128}$/;

/** Returns the token of a request's target, or undefined if the target is not exactly such a path. */
export function challengeToken(target: string): string | undefined {
  if (!target.startsWith(CHALLENGE_PREFIX)) return undefined;
  const token = target.slice(CHALLENGE_PREFIX.length);
  return TOKEN.test(token) ? token : undefined;
}
