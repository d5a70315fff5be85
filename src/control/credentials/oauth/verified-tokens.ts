/**
 * Caches which of our bearer tokens have a valid signature, so that it is verified once per token. Only the
 * signature is cached: key, time, policy and caller are checked for every request.
 */
import { hash } from 'node:crypto';

export interface VerifiedToken<C> {
  readonly claims: C;
  readonly keyId: string;
  readonly issuer: string;
  readonly audience: string;
  readonly expiresAtMs: number;
}

const MAX_TOKENS = 10_000;

export class VerifiedTokens<C> {
  /** By the token's SHA-256, so that the heap contains no credentials. */
  readonly #tokens = new Map<string, VerifiedToken<C>>();

  get(token: string): VerifiedToken<C> | undefined {
    return this.#tokens.get(digestOf(token));
  }

  remember(token: string, verified: VerifiedToken<C>): void {
    this.#tokens.set(digestOf(token), verified);
    if (this.#tokens.size > MAX_TOKENS) this.#tokens.delete(this.#tokens.keys().next().value!);
  }
}

function digestOf(token: string): string {
  return hash('sha256', token, 'base64');
}
