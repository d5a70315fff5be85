/** `--metrics-listen` of a program that is one part. */
import { X509Certificate } from 'node:crypto';
import type { Log } from '#base';
import type { TextEndpoint } from '#net/http';
import {
  certificateExpiries,
  ProgramHealth,
  openMetricsEndpoint,
  writeBuildInformation,
  type Exposition,
  type MetricsAddress,
  type MetricsWriter,
} from '#net/metrics';

export interface ServedMetrics {
  /** What `/health/ready` answers. */
  readonly health: ProgramHealth;
  /** From then on the metrics of the part are served beside those of the process. */
  add(writer: MetricsWriter): void;
  close(): Promise<void>;
}

/** Metrics that are not served yet. */
export interface PreparedMetrics extends ServedMetrics {
  /** Rejects with `port-taken` or `cannot-listen`. */
  open(): Promise<void>;
}

/** `address` undefined: nothing is served. */
export function prepareMetrics(
  address: MetricsAddress | undefined,
  version: string,
  log: Log,
): PreparedMetrics {
  const writers: MetricsWriter[] = [(to) => writeBuildInformation(to, version)];
  const health = new ProgramHealth(version);
  let endpoint: TextEndpoint | undefined;
  return {
    health,
    add: (writer) => void writers.push(writer),
    async open() {
      if (address === undefined) return;
      endpoint = await openMetricsEndpoint(address, writers, log, health);
      log.info({ host: address.host, port: endpoint.port }, 'metrics are served');
    },
    async close() {
      const closing = endpoint;
      endpoint = undefined;
      await closing?.close();
    },
  };
}

/** Opened before the part starts, so that a port that is taken costs no single-use code. */
export async function serveMetrics(
  address: MetricsAddress | undefined,
  version: string,
  log: Log,
): Promise<ServedMetrics> {
  const metrics = prepareMetrics(address, version, log);
  await metrics.open();
  return metrics;
}

/** The routers that a part is connected to, and the expiry of the certificate with which it connects. */
export function writeConnectionMetrics(
  to: Exposition,
  part: 'agent' | 'gateway' | 'tunnel',
  overlay: { readonly routerCount: number },
  identityPem: string,
): void {
  to.one(`frontdoor_${part}_routers`, 'gauge', 'Routers that this part is connected to', overlay.routerCount);
  to.family(
    `frontdoor_${part}_certificate_expiry_timestamp_seconds`,
    'gauge',
    'Unix time at which the certificate of its identity ends',
    certificateExpiries([{ name: 'identity', certificate: new X509Certificate(identityPem) }]),
  );
}
