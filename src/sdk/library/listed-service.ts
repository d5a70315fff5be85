/** A service and its hosts, as the control plane lists them. */

export interface ListedService {
  readonly id: string;
  /** By which it is dialed and hosted. For shares of Frontdoor: the token of the share. */
  readonly name: string;
  readonly permissions: readonly ('Dial' | 'Bind')[];
  /** Whether circuits have to be encrypted end to end. */
  readonly encryptionRequired: boolean;
  /** By config type, such as `intercept.v1`. */
  readonly config: Readonly<Record<string, unknown>>;
  /** For shares of Frontdoor: `backendMode`. */
  readonly tags: Readonly<Record<string, unknown>>;
  /** RFC 3339; empty if the control plane does not know. */
  readonly updatedAt: string;
}

export interface ListedTerminator {
  readonly id: string;
  /** Its address; empty for a host without one. */
  readonly identity: string;
  readonly routerId: string;
}
