/** The metrics of a gateway: its requests, and what it holds now. */
import type { Exposition } from '#net/metrics';
import type { GatewayStats } from './gateway-stats.ts';
import type { Observation } from './observation.ts';

export interface GatewayMetricsOptions {
  readonly gateway: { stats(): GatewayStats };
  readonly observation: Pick<Observation, 'write'>;
  /** Unix milliseconds of the last message of the control plane; 0 before the first. */
  readonly lastContactMs: () => number;
}

type Kind = 'counter' | 'gauge';

/** By the name of the statistic. */
const STATS: Readonly<Record<keyof GatewayStats, readonly [name: string, type: Kind, help: string]>> = {
  connections: ['connections', 'gauge', 'Open connections of clients'],
  headBytes: ['head_bytes', 'gauge', 'Memory of unfinished and large request heads, in bytes'],
  openCircuits: ['open_circuits', 'gauge', 'Open circuits to services'],
  idleCircuits: ['idle_circuits', 'gauge', 'Open circuits that wait for a request'],
  openPorts: ['open_ports', 'gauge', 'Ports of shares that listen'],
  streamConnections: ['stream_connections', 'gauge', 'Open connections to shares that do not speak HTTP'],
  dials: ['dials_total', 'counter', 'Circuits that the gateway has asked for'],
  failedDials: ['failed_dials_total', 'counter', 'Circuits that could not be made'],
  shares: ['shares', 'gauge', 'Shares that the gateway serves'],
  slowBodies: ['slow_bodies', 'gauge', 'Request bodies whose clients send less than 240 bytes a second'],
  cutSlowBodies: [
    'cut_slow_bodies_total',
    'counter',
    'Slow request bodies that were cut because there were too many',
  ],
  requests: ['request_heads_total', 'counter', 'Complete request heads that the gateway has received'],
  failures: ['failure_answers_total', 'counter', 'Failure pages and cut responses, malformed heads included'],
  retries: ['retries_total', 'counter', 'Requests that were sent again on a new circuit'],
  upgrades: ['upgrades_total', 'counter', 'Connections that switched protocols'],
  failedHandshakes: ['failed_handshakes_total', 'counter', 'TLS handshakes that failed'],
};

export function writeGatewayMetrics(
  to: Exposition,
  { gateway, observation, lastContactMs }: GatewayMetricsOptions,
): void {
  const stats = gateway.stats();
  for (const [key, [name, type, help]] of Object.entries(STATS))
    to.one(`frontdoor_gateway_${name}`, type, help, stats[key as keyof GatewayStats]);
  const contactMs = lastContactMs();
  if (contactMs > 0) {
    const seconds = Math.max(0, Date.now() - contactMs) / 1_000;
    const help = 'Seconds since the last message of the control plane';
    to.one('frontdoor_gateway_feed_age_seconds', 'gauge', help, seconds);
  }
  observation.write(to);
}
