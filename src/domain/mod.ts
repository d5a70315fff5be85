export {
  AGENT_SOCKET_FILE,
  AGENT_SOCKET_MAX_ANSWER_BYTES,
  AGENT_SOCKET_MAX_REQUEST_BYTES,
  AGENT_SOCKET_VERSION,
  checkAgentAnswer,
  checkAgentRequest,
  checkSocketPath,
  type AgentAnswer,
  type AgentRequest,
  type AgentResults,
  type AgentShareRequest,
  type AgentShareResult,
  type AgentShareView,
  type AgentSocketError,
  type AgentStatusResult,
  type AgentVersionResult,
  type CheckedRequest,
  type ShareReadiness,
} from './agent-socket.ts';
export { LineDecoder } from './line-decoder.ts';
export { isShareName, parseName } from './name-policy.ts';
export { parseShareTarget, type ShareTarget } from './share-target.ts';
export { SHARE_TOKEN_BYTES, shareTokenOf } from './share-token.ts';
export { isUuid } from './uuid.ts';
export {
  GATEWAY_FEED_HEARTBEAT_MS,
  type GatewayDelta,
  type GatewayFeedEvent,
  type GatewayHeartbeat,
  type GatewayShare,
  type GatewaySnapshot,
} from './gateway-feed.ts';
export { type HostedShare, type HostedShareRequest } from './hosted-share.ts';
