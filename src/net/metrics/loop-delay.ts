/** How late the event loop is, by the names that Prometheus's client library for Node uses. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Exposition } from './exposition.ts';

const RESOLUTION_MS = 10;
const NS_PER_S = 1e9;

export class LoopDelay {
  readonly #histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    this.#histogram.enable();
  }

  /** The delays since the last call. */
  write(to: Exposition): void {
    const histogram = this.#histogram;
    if (histogram.count > 0) {
      const since = 'of the event loop since the last scrape, in seconds';
      const gauge = (name: string, what: string, ns: number): void =>
        to.one(`nodejs_eventloop_lag_${name}_seconds`, 'gauge', `${what} ${since}`, lagOf(ns));
      gauge('mean', 'Mean lag', histogram.mean);
      gauge('p99', '99th percentile of the lag', histogram.percentile(99));
      gauge('max', 'Longest lag', histogram.max);
    }
    histogram.reset();
  }

  close(): void {
    this.#histogram.disable();
  }
}

/** The histogram holds the whole intervals. */
function lagOf(ns: number): number {
  return Math.max(0, ns / NS_PER_S - RESOLUTION_MS / 1_000);
}
