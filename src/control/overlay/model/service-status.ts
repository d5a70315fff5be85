/** Measured facts about hosted services and identities, written by the overlay controller and read by front doors. */
export type ServiceState = 'PENDING' | 'DEPLOYED' | 'FAILED';

export interface ServiceStatus {
  readonly state: ServiceState;
  /** Set if FAILED. `nextRetry` is ISO 8601 UTC. */
  readonly failure?: { readonly count: number; readonly lastError: string; readonly nextRetry: string };
}

/** The measurement itself, which does not change with time and can be stored as JSON. */
export interface MeasuredService {
  readonly state: ServiceState;
  /** Number of successive failures and the last error; 0 and '' unless FAILED. */
  readonly count: number;
  readonly lastError: string;
  /** If FAILED, in Unix milliseconds; null if there is no host to try. */
  readonly nextProbeMs: number | null;
}

/** The measurements of one control plane. */
export interface Measurements extends StatusBoard {
  /** Returns undefined if nothing was measured. */
  measured(serviceId: string): MeasuredService | undefined;
}

export type MeasuredKind = 'service' | 'identity' | 'router';

export type MeasuredListener = (kind: MeasuredKind, id: string) => void;

export interface StatusBoard {
  service(serviceId: string): ServiceStatus;
  /** Whether the identity's agent (or SDK) has a channel to a router. */
  isConnected(identityId: string): boolean;
  /** Names the control planes that have the identity's channel, which decide the state of its services. */
  channels(identityId: string): string;
  /** Calls the listener whenever the result for this service, identity or router may have changed. */
  onMeasured(listener: MeasuredListener): void;
}
