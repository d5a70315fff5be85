/** What a program that hosts services through the overlay works with. */
import type { Circuit } from './circuit.ts';

export interface BindableService {
  readonly id: string;
  readonly name: string;
}

/** `not-hosted`: this host does not offer the service any more; another one is to be dialed. */
export type DialRefusal = 'service-refused' | 'service-timeout' | 'not-hosted';

/** Somebody dials a hosted service. Exactly one of `accept` and `refuse` is to be called, soon. */
export interface IncomingDial {
  /** As the dialer gave it: for logs, proves nothing. */
  readonly callerId: string;
  readonly serviceId: string;
  /** The dialer keeps the circuit for later: the service is not to be connected to before bytes come. */
  readonly isStandby?: boolean;
  /** Takes the dial; the circuit starts paused. */
  accept(): Circuit;
  /** The reason reaches the dialer. */
  refuse(reason: string, code?: DialRefusal): void;
}

export type HostingState = 'binding' | 'bound' | 'failed';

export interface HostedService {
  readonly state: HostingState;
  onState: (state: HostingState, error?: Error) => void;
  /** What the host's own check of the service says; kept and told again after each new bind. */
  reportHealth(passed: boolean): void;
  /** Lowers the precedence: this host is dialed only where the service has no other. */
  lower(): void;
  /** Takes the offer back; circuits that stand go on. */
  close(): void;
}

export interface OverlayHost {
  bind(service: BindableService, handler: (incoming: IncomingDial) => void): HostedService;
}
