/**
 * Measured facts about shares and environments, written by the overlay controller, read by the Management API.
 */
export type ShareState = 'PENDING' | 'DEPLOYED' | 'FAILED';

export interface ShareStatus {
  readonly state: ShareState;
  /** Present when FAILED. `nextRetry` is ISO 8601 UTC. */
  readonly failure?: { readonly count: number; readonly lastError: string; readonly nextRetry: string };
}

export interface StatusBoard {
  share(serviceId: string): ShareStatus;
  /** True while the environment's agent (or SDK) has a channel to a router. */
  isConnected(identityId: string): boolean;
}
