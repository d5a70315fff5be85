/**
 * Measured facts about shares and environments, written by the overlay controller, read by the Management API.
 */
export type ShareState = 'PENDING' | 'DEPLOYED' | 'FAILED';

export interface ShareStatus {
  readonly state: ShareState;
  /** Present when FAILED. `nextRetry` is ISO 8601 UTC. */
  readonly failure?: { readonly count: number; readonly lastError: string; readonly nextRetry: string };
}

/** The same as it is measured: it stays true as time passes, and survives JSON. */
export interface MeasuredShare {
  readonly state: ShareState;
  /** Failures in a row, and what the last one was; 0 and '' unless FAILED. */
  readonly count: number;
  readonly lastError: string;
  /** When FAILED: Unix milliseconds; null when there is no host to try. */
  readonly nextProbeMs: number | null;
}

/** What one control plane measures by itself. */
export interface Measurements extends StatusBoard {
  /** Undefined: nothing was measured. */
  measured(serviceId: string): MeasuredShare | undefined;
  /** Whenever an answer for this share, environment or router may have changed. */
  onMeasured(listener: (kind: MeasuredKind, id: string) => void): void;
}

export type MeasuredKind = 'share' | 'identity' | 'router';

export interface StatusBoard {
  share(serviceId: string): ShareStatus;
  /** True while the environment's agent (or SDK) has a channel to a router. */
  isConnected(identityId: string): boolean;
}
