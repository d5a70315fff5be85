/** Responses of the edge client API, as far as our clients read them. Field names are OpenZiti's. */
export interface EdgeRouterAddress {
  readonly name: string;
  readonly isOnline: boolean;
  /** `tls://host:port`; absent while the router has not reported a listener. */
  readonly tlsUrl: string | undefined;
}

export interface EdgeService {
  readonly id: string;
  /** The share's token. */
  readonly name: string;
  readonly permissions: readonly ('Dial' | 'Bind')[];
  readonly encryptionRequired: boolean;
  /** By config type; `host.v1` for services that this identity may bind. */
  readonly config: Readonly<Record<string, unknown>>;
  readonly updatedAt: string;
}

/** An API session, whose token channels to routers present. */
export interface EdgeSession {
  readonly id: string;
  readonly token: string;
  readonly identityId: string;
  readonly expiresAt: string;
}

/** Permission to dial or bind one service, which Connect and Bind carry. */
export interface ServiceSession {
  readonly id: string;
  readonly token: string;
  readonly serviceId: string;
  readonly type: 'Dial' | 'Bind';
  readonly routers: readonly EdgeRouterAddress[];
}

export interface EdgeVersion {
  readonly version: string;
  readonly capabilities: readonly string[];
}
