export {
  isAllowedAddress,
  isAllowedPort,
  parseAllowedNetwork,
  parseAllowedNetworks,
  type AllowedNetwork,
} from './allowed-network-policy.ts';
export {
  addressText,
  isInNetwork,
  networkText,
  parseAddress,
  parseIpNetwork,
  type IpNetwork,
} from './ip-network.ts';
export {
  BACKEND_MODE_TABLE,
  BACKEND_MODES,
  folderTarget,
  MAX_TARGET_LENGTH,
  modesOf,
  targetForms,
  type BackendMode,
  type BackendModeRow,
} from './backend-mode-table.ts';
export { forwardedAddresses, isTrustedProxy, parseTrustedProxies } from './trusted-proxy-policy.ts';
export { checkEgress, type EgressDecision } from './egress-policy.ts';
export type {
  FieldTexts,
  IssuerAddress,
  OpenIdRules,
  ProviderClaims,
  ProviderData,
  ProviderType,
  Translated,
} from './provider-types/provider-type.ts';
export {
  acceptsTokens,
  AUTH_PROVIDER_TYPES,
  hasKeys,
  isProviderType,
  LOGIN_TYPES_TEXT,
  PROVIDER_TYPES,
  provesPeople,
  type AuthProviderType,
} from './provider-types/provider-type-table.ts';
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
export { apiSpelling, edgeSpelling } from './error-spelling.ts';
export { loginHostOf } from './login-host.ts';
export { isShareLabel, isShareName, parseName, shareNameRule } from './name-policy.ts';
export {
  mfaRemainingS,
  NO_TIMEOUT_S,
  postureFault,
  type MfaCheck,
  type Posture,
  type PostureCheck,
  type ReportedProcess,
} from './posture/posture-policy.ts';
export { MAX_POSTURE_BYTES, SessionPosture, type PostureReport } from './posture/session-posture.ts';
export { isVersionRange } from './posture/version-range-policy.ts';
export { parseShareTarget, type FolderTarget, type ServerTarget, type ShareTarget } from './share-target.ts';
export type { CustomHost, GuardedShare, Share, ShareFrontend } from './share.ts';
export { SHARE_TOKEN_BYTES, shareTokenOf } from './share-token.ts';
export { TERMINATOR_STRATEGIES, type TerminatorStrategy } from './terminator-strategy.ts';
export { isUuid } from './uuid.ts';
export { parseWebOrigin } from './web-origin.ts';
export { isDomainName, isZoneName, zonesOverlap } from './zone-name.ts';
export {
  DEFAULT_SESSION_LIMITS,
  accessRulesSchema,
  OPEN_RULES,
  sentAccessRules,
  type AccessRules,
  type BasicUser,
  type ClaimRule,
  type ClientCertificateRule,
  type RateLimit,
  type SessionLimits,
} from './access/access-rules.ts';
export { ACCESS_REASONS, type AccessReason } from './access/access-reason-table.ts';
export {
  explainAccess,
  type AccessExplanation,
  type ExplainedProvider,
  type ExplainedRequest,
} from './access/access-explanation.ts';
export { accessSummary, type AccessSummary, type SummedProvider } from './access/access-summary.ts';
export { AccessComparer, type RecordedRequest } from './access/access-comparison.ts';
export { isCertificateName, type CallerCertificate } from './access/certificate-names.ts';
export {
  compileRules,
  decideAddress,
  decideCertificate,
  decideClaims,
  decideEmail,
  decideIdentity,
  decideNetwork,
  decideProvability,
  decideTime,
  needsIdentity,
  pathKind,
  type CompiledRules,
  type NetworkFacts,
} from './access/compiled-rules.ts';
export {
  ineffectiveRules,
  type IneffectiveReason,
  type IneffectiveRule,
} from './access/ineffective-rules.ts';
export { canonicalEmail, EmailPatterns, parseEmailPattern } from './access/email-pattern.ts';
export { parsePathPattern, type PathKind } from './access/path-rules.ts';
export { MAX_IDENTITY_BYTES, type CallerIdentity } from './access/caller-identity.ts';
export { hasRemedy, remedyOf, type FailureCode } from './failure-remedy-table.ts';
export { MESSAGE_REFUSALS, type MessageRefusal } from './message-refusal-table.ts';
export {
  AGENT_SOCKET_FILE,
  AGENT_SOCKET_MAX_ANSWER_BYTES,
  AGENT_SOCKET_MAX_REQUEST_BYTES,
  agentAnswerShape,
  agentRequestShape,
  checkAgentAnswer,
  checkAgentRequest,
  checkSocketPath,
  encodeAgentAnswer,
  encodeAgentRequest,
  type AgentAccessView,
  type AgentAnswer,
  type AgentRequest,
  type AgentResults,
  type AgentShareRequest,
  type AgentShareResult,
  type AgentShareView,
  type AgentSocketError,
  type AgentStatusResult,
  type AgentVersionResult,
  type AgentOutcome,
  type CheckedRequest,
  type ShareReadiness,
} from './shapes/agent-socket.ts';
export {
  agentSelfShape,
  hostedShareRequestShape,
  hostedShareShape,
  hostedSharesShape,
  type HostedShare,
  type HostedShareRequest,
} from './shapes/agent-shares.ts';
export {
  GATEWAY_FEED_HEARTBEAT_MS,
  GATEWAY_TRUST_MS,
  gatewayFeedShape,
  keptSharesShape,
  NO_GATEWAY_KEYS,
  remainsOf,
  type FeedList,
  type FeedRemains,
  type GatewayApiKeys,
  type GatewayCustomHost,
  type GatewayDelta,
  type GatewayFeedEvent,
  type GatewayHeartbeat,
  type GatewayInspection,
  type GatewayKeys,
  type GatewayProvider,
  type GatewayProviderLogout,
  type GatewayZoneOwner,
  type GatewayReplay,
  type GatewayShare,
  type GatewayShares,
  type GatewaySnapshot,
  type GatewayTokenIssuer,
  type KeptShares,
  type ServedShare,
} from './shapes/gateway-feed.ts';
export {
  gatewayUsageShape,
  LOGIN_ATTEMPT_TTL_MS,
  LOGIN_CODE_TTL_MS,
  loginCallbackShape,
  loginRedeemedShape,
  loginRedemptionShape,
  loginReturnedShape,
  loginStartedShape,
  loginStartShape,
  MAX_USAGE_ENTRIES,
  providerQueryShape,
  sessionFoundShape,
  sessionQueryShape,
  type GatewaySession,
  type GatewayUsage,
  type LoginCallback,
  type LoginRedeemed,
  type LoginRedemption,
  type LoginRefusal,
  type LoginRefusalReason,
  type LoginReturned,
  type LoginStart,
  type LoginStarted,
  type ProviderQuery,
  type SessionFound,
  type SessionQuery,
} from './shapes/gateway-login.ts';
export {
  failuresShape,
  inspectionsShape,
  MAX_INSPECTED_BODY_BYTES,
  MAX_RECORD_BATCH,
  NO_SHARE,
  REDACTED,
  type InspectedMessage,
  type InspectedRequest,
  type RequestFailure,
  type RequestTimings,
} from './shapes/gateway-records.ts';
export {
  agentLockShape,
  certificateOrdersShape,
  demoCredentialsShape,
  keptAccessesShape,
  keptControlPlanesShape,
  machineChangesShape,
  namedAddressShape,
  ownTargetsShape,
  portsFileShape,
  profilesShape,
  sampleReadyShape,
  type CertificateOrders,
  type Credentials,
  type KeptAccess,
  type LockHolder,
  type NamedAddress,
  type Profile,
  type ProfileFile,
  type Profiles,
  type RememberedPorts,
  ACCESS_PROTOCOLS,
  type AccessProtocol,
} from './shapes/own-files.ts';
export {
  addedByClass,
  MAX_TRAFFIC_BYTES,
  MAX_TRAFFIC_REQUESTS,
  MAX_TRAFFIC_SAMPLES,
  NO_RESPONSES,
  TRAFFIC_SPAN_MS,
  trafficReportShape,
  type TrafficCounts,
  type TrafficReport,
  type TrafficSample,
} from './shapes/traffic-report.ts';
export { invalidValue } from './invalid-value.ts';
export { IDEMPOTENCY_KEY_TTL_MS } from './kept-answers.ts';
export { includesScope, ROLE_SCOPES, ROLES, SCOPES, type Role, type Scope } from './role.ts';
