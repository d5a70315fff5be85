/** Measured facts about shares and environments, written by the overlay controller and read by the Management API. */
export type ShareState = 'PENDING' | 'DEPLOYED' | 'FAILED';

export interface ShareStatus {
  readonly state: ShareState;
  /** Set if FAILED. `nextRetry` is ISO 8601 UTC. */
  readonly failure?: { readonly count: number; readonly lastError: string; readonly nextRetry: string };
}

/** The measurement itself, which does not change with time and can be stored as JSON. */
export interface MeasuredShare {
  readonly state: ShareState;
  /** Number of successive failures and the last error; 0 and '' unless FAILED. */
  readonly count: number;
  readonly lastError: string;
  /** If FAILED, in Unix milliseconds; null if there is no host to try. */
  readonly nextProbeMs: number | null;
}

/** The measurements of one control plane. */
export interface Measurements extends StatusBoard {
  /** Returns undefined if nothing was measured. */
  measured(serviceId: string): MeasuredShare | undefined;
}

export type MeasuredKind = 'share' | 'identity' | 'router';

export type MeasuredListener = (kind: MeasuredKind, id: string) => void;

export interface StatusBoard {
  share(serviceId: string): ShareStatus;
  /** Whether the environment's agent (or SDK) has a channel to a router. */
  isConnected(identityId: string): boolean;
  /** Names the control planes that have the environment's channel, which decide the state of its shares. */
  channels(identityId: string): string;
  /** Calls the listener whenever the result for this share, environment or router may have changed. */
  onMeasured(listener: MeasuredListener): void;
}
