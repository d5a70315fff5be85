/** `--metrics-listen` of a program that is one part. */
import type { Log } from '#base';
import { openMetricsEndpoint, type MetricsAddress, type MetricsWriter, type TextEndpoint } from '#net';

export interface ServedMetrics {
  /** From then on the metrics of the part are served beside those of the process. */
  add(writer: MetricsWriter): void;
  close(): Promise<void>;
}

/**
 * Opened before the part starts, so that a port that is taken costs no single-use code. Rejects with `port-taken` or
 * `cannot-listen`; undefined: nothing is served.
 */
export async function serveMetrics(address: MetricsAddress | undefined, log: Log): Promise<ServedMetrics> {
  const writers: MetricsWriter[] = [];
  let endpoint: TextEndpoint | undefined;
  if (address !== undefined) {
    endpoint = await openMetricsEndpoint(address, writers, log);
    log.info({ host: address.host, port: endpoint.port }, 'metrics are served');
  }
  return {
    add: (writer) => void writers.push(writer),
    close: async () => endpoint?.close(),
  };
}
