/**
 * An API session that is proven by a token of a controller (OIDC), not announced by it. The SDK replaces the token
 * before it expires.
 */
import type { X509Certificate } from 'node:crypto';
import { SessionPosture } from '#domain/posture';
import type { KnownApiSession } from '../ctrl/api-session-registry.ts';
import type { AccessToken } from './controller-tokens.ts';

export interface CertifiedPeer {
  /** `host:port` */
  readonly address: string;
  readonly fingerprint: string;
  /** Undefined for a peer in this process. */
  readonly certificate: X509Certificate | undefined;
  /** Returns true if the certificate chains to an authority of the network. */
  isProven(): boolean;
}

export class TokenSession implements KnownApiSession {
  readonly peer: CertifiedPeer;
  /** Sessions of several channels can share it. */
  readonly posture: SessionPosture;
  #access: AccessToken;

  constructor(access: AccessToken, peer: CertifiedPeer, posture = new SessionPosture()) {
    this.#access = access;
    this.peer = peer;
    this.posture = posture;
  }

  replace(access: AccessToken): void {
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
