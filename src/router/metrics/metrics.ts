/**
 * The metrics that parts of the router update, with OpenZiti's names. Plain objects with plain fields, because meters
 * and histograms are updated on the data path. `MetricRegistry` holds them, reports them to controllers and formats
 * them for Prometheus.
 */
export interface Meter {
  mark(count: number): void;
}

export interface Histogram {
  update(value: number): void;
  /** Discards all values, because a link that became silent is judged by later values only. */
  clear(): void;
}

/** Durations in nanoseconds. */
export interface Timer {
  update(nanoseconds: number): void;
}

export interface Metrics {
  /** Returns the same object for the same name. */
  meter(name: string): Meter;
  histogram(name: string): Histogram;
  timer(name: string): Timer;
  /** `read` is called for each report. */
  gauge(name: string, read: () => number): void;
  /** Counts bytes of a circuit in buckets of the report interval: `usage` or `fabricUsage`. */
  usage(circuitId: string, kind: UsageKind, bytes: number): void;
  /** Adds tags to the buckets of `usage`; that of a circuit is asked for while it moves data. */
  tagUsage(tagsOf: UsageTags): void;
  /** Removes all metrics whose name has this prefix, such as those of a closed link. */
  dispose(prefix: string): void;
}

/** Returns the tags of a circuit; undefined if it has none. */
export type UsageTags = (circuitId: string) => Readonly<Record<string, string>> | undefined;

export type UsageKind = 'ingress.rx' | 'ingress.tx' | 'egress.rx' | 'egress.tx' | 'fabric.rx' | 'fabric.tx';

const IGNORED = { mark: () => {}, update: () => {}, clear: () => {} };

/** Discards all values, for tests and for parts without metrics. */
export const NO_METRICS: Metrics = {
  meter: () => IGNORED,
  histogram: () => IGNORED,
  timer: () => IGNORED,
  gauge: () => {},
  usage: () => {},
  tagUsage: () => {},
  dispose: () => {},
};
