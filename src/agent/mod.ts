export {
  startAgent,
  parseAllowTargets,
  AGENT_DRAIN_MS,
  type Agent,
  type AgentOptions,
  type AgentTiming,
} from './agent.ts';
export { openSdkNetwork, AGENT_IDENTITY_FILE, type SdkNetworkOptions } from './sdk-network.ts';
export {
  type AgentControlPlane,
  type AgentNetwork,
  type AgentShare,
  type OwnShareRequest,
} from './agent-network.ts';
export { AGENT_LOCK_FILE, inspectAgentLock, isRunning } from './agent-lock.ts';
export { openTunnelOverlay, type TunnelOverlay } from './tunnel/tunnel-overlay.ts';
export { TunnelHost } from './tunnel/tunnel-host.ts';
export { startTunnelProxy } from './tunnel/tunnel-proxy.ts';
export { adoptOrReplaceAgent, type Adoption, type AdoptionOptions } from './agent-adoption.ts';
