export { GatewayAccess } from './access/gateway-access.ts';
export type { GatewayAccessOptions } from './access/gateway-access-options.ts';
export type { SharePortPlace } from './streams/share-ports.ts';
export { loadAccountKey, type AccountKey } from './acme/account-key.ts';
export type { AcmeSettings, DnsSettings } from './acme/acme-settings.ts';
export { ChallengeRecords } from './acme/dns/challenge-records.ts';
export { openDnsProvider, providerNameOf } from './acme/dns/open-dns-provider.ts';
export { RecordJournal } from './acme/dns/record-journal.ts';
export { RecordSweeper } from './acme/dns/record-sweeper.ts';
export { CertificateDemand, type NameOwner } from './acme/certificate-demand.ts';
export { DomainCertificates } from './acme/domain-certificates.ts';
export { AcmeIssuer, type AcmeIssuerOptions } from './acme/acme-issuer.ts';
export {
  ISSUE_OUTCOMES,
  type CertificateSource,
  type NeededCertificate,
  type IssueEvent,
  type IssueOutcome,
} from './acme/certificate-source.ts';
export { OrderFailure } from './acme/order-failure.ts';
export { challengeAnswers, type ChallengeAnswers } from './acme/challenge-answer.ts';
export { SITE_SUFFIXES } from './http/site-suffixes.ts';
export { createGateway, startGateway, type Gateway, type GatewayOptions } from './gateway.ts';
export {
  CertificateStore,
  type CertificateSources,
  type CertificateStoreOptions,
  type ExpiringCertificate,
  type KeptCertificate,
  type Reloaded,
} from './certificates/certificate-store.ts';
export { type ClientCertificate, type ClientProof } from './certificates/client-certificate.ts';
export { TICKET_SECRET_BYTES } from './certificates/ticket-keys.ts';
export { type PortAddress, type SharedPlace } from './gateway-listener.ts';
export { type TlsSettings } from './tls-front.ts';
export {
  DEFAULT_GATEWAY_LIMITS,
  headLimits,
  type GatewayLimits,
  type HeadLimits,
} from './limits/gateway-limits.ts';
export { type CircuitDialer } from './circuits/circuit-dialer.ts';
export {
  openShareFeed,
  type ShareFeed,
  type ShareFeedOptions,
  type ShareFeedSubscription,
} from './shares/share-feed.ts';
export { type ShareRouteTable } from './shares/share-routes.ts';
export { Observation, type ObservationOptions } from './observe/observation.ts';
export type { GatewayStats } from './observe/gateway-stats.ts';
export { writeGatewayMetrics, type GatewayMetricsOptions } from './observe/gateway-metrics.ts';
export {
  startTrafficReporter,
  type TrafficReporter,
  type TrafficReporterOptions,
} from './traffic/traffic-reporter.ts';
