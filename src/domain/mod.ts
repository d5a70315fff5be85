export {
  isAllowedAddress,
  isAllowedPort,
  parseAddress,
  parseAllowedNetwork,
  parseAllowedNetworks,
  type AllowedNetwork,
} from './allowed-network-policy.ts';
export { checkEgress, type EgressDecision } from './egress-policy.ts';
export { AUTH_PROVIDER_TYPES, type AuthProviderType } from './auth-provider-type.ts';
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
export { formatIsoDuration, parseIsoDuration } from './iso-duration.ts';
export {
  decodeLatencies,
  encodeLatencies,
  LATENCY_BUCKETS,
  latencyBucketOf,
  latencyPercentile,
  mergeLatencies,
  NO_LATENCIES,
  type LatencyHistogram,
} from './latency-histogram.ts';
export {
  BACKUP_FORMAT,
  BackupDecoder,
  type BackupHash,
  type BackupHeader,
  type BackupItem,
  type BackupSummary,
  type BackupTable,
  type BackupTrailer,
  type BackupValue,
} from './backup-decoder.ts';
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
export {
  MAX_TRAFFIC_BYTES,
  MAX_TRAFFIC_REQUESTS,
  MAX_TRAFFIC_SAMPLES,
  parseTrafficReport,
  TRAFFIC_SPAN_MS,
  type TrafficCounts,
  type TrafficReport,
  type TrafficSample,
} from './traffic-report.ts';
