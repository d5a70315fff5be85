/**
 * The shapes of `/agent/v1`, over which agents and the control plane exchange shares. An agent sees only the
 * shares that it hosts.
 */
export interface HostedShareRequest {
  /** Absent: a random token, and the share is deleted when it is released. */
  readonly name?: string;
  readonly shareMode: 'public' | 'private';
  readonly backendMode: 'proxy';
  /** `http://host:port`. */
  readonly target: string;
  /** Environment ids that may dial a private share. */
  readonly grants?: readonly string[];
}

export interface HostedShare {
  /** The overlay's service id. */
  readonly id: string;
  /** The overlay's service name. */
  readonly token: string;
  readonly name: string | null;
  readonly shareMode: 'public' | 'private';
  readonly backendMode: 'proxy';
  readonly target: string;
  /** Whether this agent set the target itself; false if it came through the Management API. */
  readonly targetByAgent: boolean;
  readonly reserved: boolean;
  /** Incremented when the share is reclaimed or changed. */
  readonly epoch: number;
  readonly grants: readonly string[];
  readonly frontendEndpoints: readonly string[];
  /** Measured through the overlay. */
  readonly status: 'PENDING' | 'DEPLOYED' | 'FAILED';
  readonly failure?: { readonly count: number; readonly lastError: string; readonly nextRetry: string };
}
