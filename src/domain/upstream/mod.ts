/** How requests of a share reach its service: the settings, and what gateways make of them. */
export { gatewayUpstreamOf, gatewayUpstreamSchema, type GatewayUpstream } from './gateway-upstream.ts';
export { HOST_HEADER_RULE, parseHostHeader, type ServiceHost } from './host-header.ts';
export {
  changedUpstream,
  checkUpstream,
  DEFAULT_UPSTREAM,
  hasUpstream,
  isSameUpstream,
  shareUpstreamChangeSchema,
  shareUpstreamFields,
  storedUpstream,
  type ShareUpstream,
  type ShareUpstreamChange,
  type UpstreamProblem,
} from './share-upstream.ts';
