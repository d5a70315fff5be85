/**
 * The agent's outside interfaces: calls of the control plane, and a place to host services. `sdk-network.ts`
 * implements them with `#sdk`; tests use their own.
 */
import type { AccessProtocol, HostedShare, HostedShareRequest } from '#domain/agent-shapes';
import type { BindableService, Circuit, OverlayHost } from '#sdk';

/** A share of this environment in the form of `/agent/v1/shares`. Its token is the name of its overlay service. */
export type AgentShare = HostedShare;

export type OwnShareRequest = HostedShareRequest;

/** Every call has its own time limit and throws `FrontdoorError`. */
export interface AgentControlPlane {
  reportVersion(version: string): Promise<void>;
  /** Returns a mark that changes whenever `bindableServices` may have changed. */
  lastServiceChange(): Promise<string>;
  bindableServices(): Promise<readonly BindableService[]>;
  shares(): Promise<readonly AgentShare[]>;
  createShare(share: OwnShareRequest): Promise<AgentShare>;
  releaseShare(token: string): Promise<void>;
}

export interface AgentNetwork {
  readonly environmentId: string;
  readonly environmentName: string;
  /** Address of the edge API in use, for status. */
  readonly apiUrl: string;
  /** The proxy that leads there, without user and password; undefined: none does. */
  readonly proxy?: string | undefined;
  /** How the clock of this machine differs from that of the control plane; undefined: not at all. */
  readonly clockProblem?: string | undefined;
  readonly controlPlane: AgentControlPlane;
  readonly host: OverlayHost;
  /**
   * Opens a circuit to a private share, paused. Rejects with a `FrontdoorError` or `CircuitError`; `service-unknown` if
   * this environment may not dial it, `wrong-protocol` if it is known to be a share of the other protocol.
   */
  dial(share: string, timeoutMs: number, protocol: AccessProtocol): Promise<Circuit>;
  close(): Promise<void>;
}
