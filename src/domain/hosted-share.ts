/** What agents and the control plane exchange about shares at `/agent/v1`: an agent sees those it hosts itself. */
export interface HostedShareRequest {
  /** Absent: a random token, and the share goes when it is released. */
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
  /** True: this agent asked for the target itself; false: it came through the Management API. */
  readonly targetByAgent: boolean;
  readonly reserved: boolean;
  /** Grows when the share is taken back or changed. */
  readonly epoch: number;
  readonly grants: readonly string[];
  readonly frontendEndpoints: readonly string[];
  /** Measured through the overlay. */
  readonly status: 'PENDING' | 'DEPLOYED' | 'FAILED';
  readonly failure?: { readonly count: number; readonly lastError: string; readonly nextRetry: string };
}
