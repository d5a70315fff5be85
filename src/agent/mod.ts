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
export { AGENT_LOCK_FILE, inspectAgentLock } from './agent-lock.ts';
export { adoptOrReplaceAgent, type Adoption, type AdoptionOptions } from './agent-adoption.ts';
