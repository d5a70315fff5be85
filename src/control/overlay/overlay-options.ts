/** Options and dependencies of the overlay controller. */
import type { Clock, Log } from '#base';
import type { HeartbeatOptions, TlsIdentity } from '#net/channel';
import type { ApiAddresses } from '#wire/ctrl';
import type { ApiSessions, EndedSessions } from './model/api-sessions.ts';
import type { FabricEvents } from './model/fabric-events.ts';
import type { OverlayModel } from './model/overlay-model.ts';
import type { Secrets } from '../secrets/mod.ts';
import type { Store } from '../store/mod.ts';
import type { CertificateIssuer } from './routers/certificate-extension.ts';
import type { CircuitLimits } from './circuits/circuit-registry.ts';
import type { PendingLimits } from './circuits/circuit-requests.ts';
import type { ClusterSource } from './routers/cluster-announcer.ts';
import type { ServiceKey } from './data-model/data-model-events.ts';
import type { LocalEnds } from './circuits/key-exchange-policy.ts';
import type { VerifyServiceToken } from './permits/service-session-check.ts';

export interface OverlayControllerOptions {
  readonly listener: OverlayListener;
  /** Verifies leaf certificates of our CA, and renews those of routers. */
  readonly issuer: CertificateIssuer;
  readonly store: Store;
  /** Authenticates the audit events of renewals. */
  readonly secrets: Pick<Secrets, 'tag'>;
  /** Must be loaded, because terminators that it does not permit are removed at the start. */
  readonly model: OverlayModel;
  readonly sessions: ApiSessions;
  readonly access: RouterAccess;
  /** Other control planes over the same store. */
  readonly replicas?: OverlayReplicas | undefined;
  readonly tuning?: OverlayTuning | undefined;
  /** Gets events of the mesh. */
  readonly events?: FabricEvents | undefined;
  readonly clock?: Clock | undefined;
  readonly log: Log;
}

/** Where routers connect. */
export interface OverlayListener {
  /** The common name of the control certificate, by which routers know this controller. */
  readonly controllerId: string;
  readonly host: string;
  readonly port: number;
  readonly tls: TlsIdentity;
  readonly heartbeat?: HeartbeatOptions | undefined;
  /** The product's version, which the answer to a router's hello names. */
  readonly release?: string | undefined;
}

/** What routers get for judging their clients, and what they may do. */
export interface RouterAccess {
  readonly verifyServiceToken: VerifyServiceToken;
  /** Returns the current keys that sign service sessions. */
  readonly serviceKeys: () => readonly ServiceKey[];
  /** Ends of sessions that are kept, also those at other control planes. Without it, only known sessions are revoked. */
  readonly endedSessions?: EndedSessions | undefined;
  /** Returns the addresses of the edge API, for routers that check who issued a token. */
  readonly apiAddresses?: (() => ApiAddresses) | undefined;
  /** Domain of the addresses at which routers intercept private shares. Without it, they intercept none. */
  readonly interceptDomain?: string | undefined;
  /** Circuits between these two and our agents are in clear. */
  readonly localEnds?: (() => LocalEnds | undefined) | undefined;
}

export interface OverlayReplicas {
  /** Whether another control plane has the environment's channel. */
  readonly isConnectedElsewhere?: ((identityId: string) => boolean) | undefined;
  /** The list that routers get. Without it, they receive no list. */
  readonly cluster?: ClusterSource | undefined;
}

/** Bounds and intervals that replace the defaults. */
export interface OverlayTuning {
  /** Interval of deadline checks; 0: only when `tick` is called. */
  readonly tickMs?: number | undefined;
  readonly pendingLimits?: PendingLimits | undefined;
  readonly circuitLimits?: CircuitLimits | undefined;
  readonly maxProbesPerSecond?: number | undefined;
  /** Randomness for choosing terminators: 0 <= x < 1. */
  readonly random?: (() => number) | undefined;
}
