/**
 * What the agent needs from outside: the control plane's calls and a place to host services. The real ones are
 * made of `#sdk` (`sdk-network.ts`); tests bring their own.
 */
import type { HostedShare, HostedShareRequest } from '#domain';
import type { BindableService, OverlayHost } from '#sdk';

/** A share of this environment, as `/agent/v1/shares` shows it; its token is the name of its overlay service. */
export type AgentShare = HostedShare;

export type OwnShareRequest = HostedShareRequest;

/** Every call has its own time limit and throws `FrontdoorError`. */
export interface AgentControlPlane {
  tellVersion(version: string): Promise<void>;
  /** Changes whenever `bindableServices` may have. */
  lastServiceChange(): Promise<string>;
  bindableServices(): Promise<readonly BindableService[]>;
  shares(): Promise<readonly AgentShare[]>;
  createShare(share: OwnShareRequest): Promise<AgentShare>;
  releaseShare(token: string): Promise<void>;
}

export interface AgentNetwork {
  readonly environmentId: string;
  readonly environmentName: string;
  /** Where the control plane's edge API is, for status. */
  readonly apiUrl: string;
  readonly controlPlane: AgentControlPlane;
  readonly host: OverlayHost;
  close(): Promise<void>;
}
