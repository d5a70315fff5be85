/**
 * The overlay's API sessions (edge client API log-ins), in memory; the store's copy outlives a restart, so that
 * channels and circuits do too. Implemented by the edge API, watched by the overlay controller.
 */
export interface ApiSession {
  readonly id: string;
  /** Opaque; what SDKs show to routers. */
  readonly token: string;
  readonly identityId: string;
  /** Fingerprints of leaf certificates that may use the token. */
  readonly fingerprints: readonly string[];
}

export interface ApiSessions {
  byToken(token: string): ApiSession | undefined;
  byId(id: string): ApiSession | undefined;
  all(): IterableIterator<ApiSession>;
  /** A router still carries channels for these tokens: they do not idle out. */
  touch(tokens: readonly string[]): void;
  onAdded(listener: (session: ApiSession) => void): void;
  onUpdated(listener: (session: ApiSession) => void): void;
  onRemoved(listener: (session: ApiSession) => void): void;
}
