/** The interface for programs that host services in the overlay. */
import type { Circuit } from './circuit.ts';
import type { TerminatorOptions, TerminatorRank } from './terminator-options.ts';

export type HostEncryption = 'offered' | 'required';

export interface BindableService {
  readonly id: string;
  readonly name: string;
  /**
   * `offered`: circuits of dialers with a key are encrypted end to end, others are in clear. `required`: dials without a
   * key are refused. By default all circuits are in clear. Only for services that require encryption of their clients,
   * since some encrypt as soon as the host has a key.
   */
  readonly encryption?: HostEncryption | undefined;
  readonly terminator?: TerminatorOptions | undefined;
  /**
   * A bind with the listener id of another one of this identity replaces it. The id of the service by default, so that a
   * program that hosts a service twice needs two.
   */
  readonly listenerId?: string | undefined;
}

/** `not-now`: this host accepts no circuit at the moment, which says nothing about the service or the bind. */
export type DialRefusal = 'service-refused' | 'service-timeout' | 'not-now';

/** A dial of a hosted service. Exactly one of `accept` and `refuse` must be called soon. */
export interface IncomingDial {
  /** As the dialer sent it: for logs only, it proves nothing. */
  readonly callerId: string;
  readonly serviceId: string;
  /**
   * Whether the dialer keeps the circuit for later, so that the host connects to the service only when bytes
   * arrive.
   */
  readonly isStandby?: boolean;
  /** Application data of the dialer. */
  readonly appData?: Uint8Array | undefined;
  /** Accepts the dial. The circuit starts paused. */
  accept(): Circuit;
  /** The dialer receives the reason. */
  refuse(reason: string, code?: DialRefusal): void;
}

export type HostingState = 'binding' | 'bound' | 'failed';

export interface HostedService {
  readonly state: HostingState;
  onState: (state: HostingState, error?: Error) => void;
  /** Reports the host's own check of the service. The result is kept and reported again after each new bind. */
  reportHealth(passed: boolean): void;
  /** Replaces cost and precedence of the bind, also after each new bind. */
  update(values: TerminatorRank): void;
  /** Lowers the precedence, so that this host is dialed only if the service has no other. */
  lower(): void;
  /** Stops hosting. Open circuits continue. */
  close(): void;
}

export interface OverlayHost {
  bind(service: BindableService, handler: (incoming: IncomingDial) => void): HostedService;
}
