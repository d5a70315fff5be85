export { startGateway, type Gateway, type GatewayOptions, type GatewayStats } from './gateway.ts';
export { type ListenAddress, type TlsSettings } from './gateway-listener.ts';
export { DEFAULT_GATEWAY_LIMITS, type GatewayLimits } from './gateway-limits.ts';
export { type CircuitDialer } from './circuit-dialer.ts';
export {
  openShareFeed,
  type ShareFeed,
  type ShareFeedOptions,
  type ShareFeedSubscription,
} from './share-feed.ts';
export { type ShareTable } from './share-table.ts';
export {
  startTrafficReporter,
  type TrafficReporter,
  type TrafficReporterOptions,
} from './traffic-reporter.ts';
