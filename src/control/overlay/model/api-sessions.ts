/**
 * The overlay's API sessions (log-ins at the edge client API), in memory. The store's copy survives a restart, so
 * that channels and circuits do too. The edge API implements this interface, and the overlay controller observes
 * it.
 */
import type { Posture } from '#domain/posture';

export interface ApiSession {
  readonly id: string;
  /** An opaque text that SDKs present to routers. No SDK has that of a session of signed tokens. */
  readonly token: string;
  /** SDKs present signed tokens (JWT), which name the session, and which routers verify themselves. */
  readonly isSigned: boolean;
  readonly identityId: string;
  /** Fingerprints of leaf certificates that may use the token. */
  readonly fingerprints: readonly string[];
  /** The posture that its device reported to a control plane; undefined: none. Signed sessions report it to routers. */
  readonly posture?: Posture | undefined;
}

export interface ApiSessions {
  /** Takes opaque and signed tokens. */
  byToken(token: string): ApiSession | undefined;
  byId(id: string): ApiSession | undefined;
  all(): IterableIterator<ApiSession>;
  /** A router still has channels for these tokens, so they do not expire. */
  touch(tokens: readonly string[]): void;
  onAdded(listener: (session: ApiSession) => void): void;
  onUpdated(listener: (session: ApiSession) => void): void;
  onRemoved(listener: (session: ApiSession) => void): void;
  onPostureChanged(listener: (session: ApiSession) => void): void;
}

/** What a service token lets an identity do in one of its sessions. */
export interface ServiceGrant {
  readonly serviceId: string;
  readonly identityId: string;
  readonly apiSessionId: string;
  readonly type: 'Dial' | 'Bind';
}

/** The end of a session with signed tokens, which are refused from then on. */
export interface EndedSession {
  readonly id: string;
  /** In Unix milliseconds. */
  readonly endedAtMs: number;
}

export interface EndedSessions {
  /** Calls the listener with each end whose tokens may not have expired, the oldest first, and with each later one. */
  follow(listener: (ended: EndedSession) => void): void;
}
