/**
 * `/metrics` of a program, for Prometheus, and `/health/live` and `/health/ready`, for load balancers: without credentials or
 * TLS, like every text endpoint.
 */
import type { Log } from '#base';
import { openTextEndpoint, type TextAnswer, type TextEndpoint } from '../http/text-endpoint.ts';
import { Exposition, EXPOSITION_TYPE } from './exposition.ts';
import { ProgramHealth } from './health.ts';
import { LoopDelay } from './loop-delay.ts';
import { writeProcessMetrics } from './process-metrics.ts';

export interface MetricsAddress {
  /** Without brackets. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Shares the port with other processes of this user that ask for the same; false by default. */
  readonly reusePort?: boolean | undefined;
}

/** Adds the families of one part; called at each scrape. */
export type MetricsWriter = (to: Exposition) => void | Promise<void>;

/** The metrics of all parts, and those of the process once. */
export async function metricsText(writers: Iterable<MetricsWriter>): Promise<string> {
  const to = new Exposition();
  for (const write of writers) await write(to);
  writeProcessMetrics(to);
  return to.toString();
}

const JSON_TYPE = 'application/json';
const UNAVAILABLE = 503;

/** Rejects with `port-taken` or `cannot-listen`. */
export async function openMetricsEndpoint(
  address: MetricsAddress,
  writers: readonly MetricsWriter[],
  log: Log,
  health = new ProgramHealth(),
): Promise<TextEndpoint> {
  const delay = new LoopDelay();
  const own: MetricsWriter = async (to) => {
    delay.write(to);
    const { status } = await health.read();
    const help = 'Whether the program is ready, as /health/ready answers: 1 or 0';
    to.one('frontdoor_ready', 'gauge', help, status === 'ready' ? 1 : 0);
  };
  const text = (): Promise<string> => metricsText([...writers, own]);
  const ready = async (query: URLSearchParams): Promise<TextAnswer> => {
    const readiness = await health.read(query.getAll('ignore'));
    const status = readiness.status === 'ready' ? 200 : UNAVAILABLE;
    return { status, text: `${JSON.stringify(readiness)}\n` };
  };
  const paths = {
    '/metrics': { contentType: EXPOSITION_TYPE, text },
    // An answer proves that the event loop turns.
    '/health/live': { contentType: JSON_TYPE, text: () => '{"status":"live"}\n' },
    '/health/ready': { contentType: JSON_TYPE, text: ready },
  };
  try {
    const endpoint = await openTextEndpoint({ ...address, paths, log });
    return {
      port: endpoint.port,
      close: async () => {
        delay.close();
        await endpoint.close();
      },
    };
  } catch (error) {
    delay.close();
    throw error;
  }
}
