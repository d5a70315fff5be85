/** A gateway's figures as Prometheus reads them: its requests, what it holds now, and what its process takes. */
import { readdirSync } from 'node:fs';
import process from 'node:process';
import { openTextEndpoint, type TextEndpoint } from '#net';
import type { Log } from '#base';
import { Exposition, EXPOSITION_TYPE } from './exposition.ts';
import type { GatewayStats } from './gateway-stats.ts';
import type { Observation } from './observation.ts';

export interface GatewayMetricsOptions {
  readonly gateway: { stats(): GatewayStats };
  readonly observation: Pick<Observation, 'write'>;
  /** Unix milliseconds of the last word of the control plane; 0: none yet. */
  readonly lastContactMs: () => number;
}

type Kind = 'counter' | 'gauge';

/** By the name of the figure; what is not here is left out. */
const STATS: Readonly<Record<keyof GatewayStats, readonly [name: string, type: Kind, help: string]>> = {
  connections: ['connections', 'gauge', 'Connections of clients'],
  openCircuits: ['open_circuits', 'gauge', 'Circuits to services'],
  idleCircuits: ['idle_circuits', 'gauge', 'Those of them that wait for a request'],
  dials: ['dials_total', 'counter', 'Circuits that were asked for'],
  failedDials: ['failed_dials_total', 'counter', 'Those of them that were not made'],
  shares: ['shares', 'gauge', 'Shares that are served'],
  requests: ['request_heads_total', 'counter', 'Whole request heads that came'],
  failures: [
    'failure_answers_total',
    'counter',
    'Failure pages and broken answers, malformed heads included',
  ],
  retries: ['retries_total', 'counter', 'Requests that were sent once more on a new circuit'],
  upgrades: ['upgrades_total', 'counter', 'Connections that switched protocols'],
  failedHandshakes: ['failed_handshakes_total', 'counter', 'TLS handshakes that came to nothing'],
};

export function gatewayMetricsText({ gateway, observation, lastContactMs }: GatewayMetricsOptions): string {
  const to = new Exposition();
  const stats = gateway.stats();
  for (const [key, [name, type, help]] of Object.entries(STATS))
    to.one(`frontdoor_gateway_${name}`, type, help, stats[key as keyof GatewayStats]);
  const contactMs = lastContactMs();
  if (contactMs > 0) {
    const seconds = Math.max(0, Date.now() - contactMs) / 1_000;
    to.one(
      'frontdoor_gateway_feed_age_seconds',
      'gauge',
      'Since the last word of the control plane',
      seconds,
    );
  }
  observation.write(to);
  writeProcess(to);
  return to.toString();
}

/** `/metrics`. Rejects with `port-taken` or `cannot-listen`. */
export function openGatewayMetrics(
  address: { readonly host: string; readonly port: number; readonly reusePort?: boolean },
  options: GatewayMetricsOptions,
  log: Log,
): Promise<TextEndpoint> {
  const text = (): string => gatewayMetricsText(options);
  return openTextEndpoint({ ...address, paths: { '/metrics': { contentType: EXPOSITION_TYPE, text } }, log });
}

/** The usual names. */
function writeProcess(to: Exposition): void {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, external } = process.memoryUsage();
  to.one('process_cpu_seconds_total', 'counter', 'CPU time', (user + system) / 1e6);
  to.one('process_resident_memory_bytes', 'gauge', 'Resident memory', rss);
  to.one('nodejs_heap_used_bytes', 'gauge', 'Memory of the heap that is in use', heapUsed);
  to.one('nodejs_external_memory_bytes', 'gauge', 'Memory outside the heap that it refers to', external);
  const startedS = Date.now() / 1_000 - process.uptime();
  to.one('process_start_time_seconds', 'gauge', 'Unix time of the start', startedS);
  const descriptors = openDescriptors();
  if (descriptors >= 0) to.one('process_open_fds', 'gauge', 'Open file descriptors', descriptors);
}

/** -1: this system does not tell. */
function openDescriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return -1;
  }
}
