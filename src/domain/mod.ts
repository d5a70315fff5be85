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
  MAX_TARGET_LENGTH,
  targetForms,
  type BackendMode,
  type BackendModeRow,
} from './backend-mode-table.ts';
export { acceptedLanguage } from './accepted-language.ts';
export { PROGRAM_SECTIONS, SHARE_SECTIONS, type ProgramSection } from './config-section-table.ts';
export type { NameRecords, TxtAnswer } from './dns-answer.ts';
export { checkEgress } from './egress-policy.ts';
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
export { LineDecoder } from './line-decoder.ts';
export { apiSpelling, edgeSpelling } from './error-spelling.ts';
export { loginHostOf } from './login-host.ts';
export { isShareLabel, isShareName, parseName, shareNameRule } from './name-policy.ts';
export {
  canonicalPath,
  decodedPath,
  isBelow,
  parsePathPrefix,
  pathOfTarget,
  pathReadings,
  queryOfTarget,
} from './request-path.ts';
export { NO_PATH, parseShareTarget, type ShareTarget } from './share-target.ts';
export { ingressHostsOf, type CustomHost, type GuardedShare, type Share } from './share.ts';
export { SHARE_TOKEN_BYTES, shareTokenOf } from './share-token.ts';
export { TERMINATOR_STRATEGIES, type TerminatorStrategy } from './terminator-strategy.ts';
export { isUuid } from './uuid.ts';
export { parseWebOrigin } from './web-origin.ts';
export { isDomainName, isZoneName, zonesOverlap } from './zone-name.ts';
export { hasRemedy, remedyOf, type FailureCode } from './failure-remedy-table.ts';
export { isRetryable } from './failure-retry-table.ts';
export { MESSAGE_REFUSALS, type MessageRefusal } from './message-refusal-table.ts';
export { networkOfAddress } from './address-network.ts';
export { invalidValue } from './invalid-value.ts';
export { IDEMPOTENCY_KEY_TTL_MS } from './kept-answers.ts';
export { includesScope, ROLE_SCOPES, ROLES, SCOPES, type Role, type Scope } from './role.ts';
