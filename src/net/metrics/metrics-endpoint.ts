/** `/metrics` of a program, for Prometheus: without credentials or TLS, like every text endpoint. */
import type { Log } from '#base';
import { openTextEndpoint, type TextEndpoint } from '../text-endpoint.ts';
import { Exposition, EXPOSITION_TYPE } from './exposition.ts';
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

/** Rejects with `port-taken` or `cannot-listen`. */
export function openMetricsEndpoint(
  address: MetricsAddress,
  writers: readonly MetricsWriter[],
  log: Log,
): Promise<TextEndpoint> {
  const text = (): Promise<string> => metricsText(writers);
  return openTextEndpoint({ ...address, paths: { '/metrics': { contentType: EXPOSITION_TYPE, text } }, log });
}
