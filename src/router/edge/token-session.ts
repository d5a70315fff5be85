/**
 * An API session that is proven by a token of a controller (OIDC), not announced by it. The SDK replaces the token
 * before it expires.
 */
import type { KnownApiSession } from '../ctrl/api-session-registry.ts';
import type { AccessToken } from './controller-tokens.ts';

export class TokenSession implements KnownApiSession {
  #access: AccessToken;

  constructor(access: AccessToken) {
    this.#access = access;
  }

  get access(): AccessToken {
    return this.#access;
  }

  get id(): string {
    return this.#access.sessionId;
  }

  get token(): string {
    return this.#access.text;
  }

  get identityId(): string {
    return this.#access.identityId;
  }

  get fingerprints(): readonly string[] {
    return this.#access.fingerprints;
  }
}
