/** Metrics and health of a program. */
export { ProgramHealth, type Readiness, type ReadinessCheck } from './health.ts';
export { writeBuildInformation } from './build-information.ts';
export { writeProcessMetrics } from './process-metrics.ts';
export { certificateExpiries, type NamedCertificate } from './certificate-expiry.ts';
export { Exposition, EXPOSITION_TYPE, type Labels, type SummaryReading } from './exposition.ts';
export {
  metricsText,
  openMetricsEndpoint,
  type MetricsAddress,
  type MetricsWriter,
} from './metrics-endpoint.ts';
