/** What the overlay controller works with. */
import type { Clock, Log } from '#base';
import type { HeartbeatOptions, TlsIdentity } from '#net';
import type { ApiSessions, OverlayModel } from '../model/mod.ts';
import type { Secrets } from '../secrets/mod.ts';
import type { Store } from '../store/mod.ts';
import type { CertificateIssuer } from './certificate-extension.ts';
import type { CircuitLimits } from './circuit-registry.ts';
import type { PendingLimits } from './circuit-requests.ts';
import type { ClusterSource } from './cluster-announcer.ts';
import type { ServiceKey } from './data-model-feed.ts';
import type { FabricTerminatorPersistence } from './fabric-terminator-persistence.ts';
import type { VerifyServiceToken } from './service-session-check.ts';

export interface OverlayControllerOptions {
  /** The common name of the control certificate; what routers know this controller by. */
  readonly controllerId: string;
  readonly listen: { readonly host: string; readonly port: number };
  readonly tls: TlsIdentity;
  /** Proves leaf certificates of our CA, and renews those of routers. */
  readonly issuer: CertificateIssuer;
  /** Loaded: what it does not allow is removed at the start. */
  readonly model: OverlayModel;
  readonly sessions: ApiSessions;
  readonly store: Store;
  /** Tags the audit events of renewals. */
  readonly secrets: Pick<Secrets, 'tag'>;
  readonly verifyServiceToken: VerifyServiceToken;
  /** Keys that sign service sessions now. */
  readonly serviceKeys: () => readonly ServiceKey[];
  readonly log: Log;
  readonly clock?: Clock;
  readonly heartbeat?: HeartbeatOptions;
  /** How often deadlines are looked at; 0: only when `tick` is called. */
  readonly tickMs?: number;
  readonly pendingLimits?: PendingLimits;
  readonly circuitLimits?: CircuitLimits;
  readonly maxProbesPerSecond?: number;
  /** Another control plane over the same store has the environment's channel. */
  readonly isConnectedElsewhere?: (identityId: string) => boolean;
  /** Control planes over the same store; without it routers are told of none. */
  readonly cluster?: ClusterSource;
  /** Keeps terminators that routers make for services of the fabric; without it they are refused. */
  readonly fabricTerminators?: FabricTerminatorPersistence;
  /** Chance among terminators: 0 <= x < 1. */
  readonly random?: () => number;
}
