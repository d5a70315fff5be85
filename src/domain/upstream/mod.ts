/** How requests of a share reach its service: the settings, and what gateways make of them. */
export { CONTENT_CODINGS, isContentCoding, type ContentCoding } from './compression.ts';
export { ERROR_PAGE_RULE, filledErrorPage } from './error-page.ts';
export { FOREIGN_HOST_BYTES, foreignHostCause, mayRefuseHost } from './foreign-host-table.ts';
export {
  gatewayUpstreamOf,
  gatewayUpstreamSchema,
  type GatewayPathTarget,
  type GatewayUpstream,
} from './gateway-upstream.ts';
export { decodeRouteData, encodeRouteData, parseRoute, type ShareRouteSetting } from './share-targets.ts';
export { parseHeaderRule, type HeaderRule } from './header-rules.ts';
export { pinOption, presentedCertificate } from './presented-certificate.ts';
export type { GatewayMaintenance } from './maintenance.ts';
export { parsePathAnswer, type GatewayAnswer, type PathAnswer } from './own-answers.ts';
export {
  CLIENT_ADDRESS_HEADERS,
  MISLEADING_HEADERS,
  RESERVED_HEADER_PREFIXES,
  reservedHeaderReason,
} from './reserved-header-table.ts';
export { HOST_HEADER_RULE, parseHostHeader, type ServiceHost } from './host-header.ts';
export {
  changedUpstream,
  checkUpstream,
  DEFAULT_UPSTREAM,
  gatewayOnlyFields,
  httpOnlyFields,
  hasUpstream,
  isSameUpstream,
  upstreamChangeSchema,
  shareUpstreamFields,
  storedUpstream,
  type ShareUpstream,
  type ShareUpstreamChange,
  type UpstreamProblem,
} from './share-upstream.ts';
export { PROXY_PROTOCOLS, type ProxyProtocol, type ProxyProtocolVersion } from './proxy-protocol.ts';
export { changedTargetTimes, DEFAULT_TARGET_TIMES, type TargetTimes } from './target-times.ts';
export {
  changedTargetTls,
  DEFAULT_TARGET_TLS,
  MAX_TLS_CA_CHARS,
  parseTlsCa,
  parseTlsPin,
  parseTlsServerName,
  setsTargetTls,
  targetTlsProblems,
  TLS_CA_RULE,
  TLS_CLIENT_RULE,
  TLS_PIN_RULE,
  TLS_SERVER_NAME_RULE,
  type TargetTls,
} from './target-tls.ts';
