/**
 * What parts of the router count, by OpenZiti's names. Plain objects with plain fields: meters and histograms are fed
 * on the data path. `MetricRegistry` holds them, reports them to controllers and prints them for Prometheus.
 */
export interface Meter {
  mark(count: number): void;
}

export interface Histogram {
  update(value: number): void;
  /** Forgets what came so far: a link that fell silent is judged by what follows alone. */
  clear(): void;
}

/** Durations, in nanoseconds. */
export interface Timer {
  update(nanoseconds: number): void;
}

export interface Metrics {
  /** The same object for the same name. */
  meter(name: string): Meter;
  histogram(name: string): Histogram;
  timer(name: string): Timer;
  /** `read` is called at each report. */
  gauge(name: string, read: () => number): void;
  /** Bytes of a circuit, in buckets of the report interval: `usage` or `fabricUsage`. */
  usage(circuitId: string, kind: UsageKind, bytes: number): void;
  /** Forgets every metric whose name begins so: a link that is gone. */
  dispose(prefix: string): void;
}

export type UsageKind = 'ingress.rx' | 'ingress.tx' | 'egress.rx' | 'egress.tx' | 'fabric.rx' | 'fabric.tx';

const IGNORED = { mark: () => {}, update: () => {}, clear: () => {} };

/** Discards everything, for tests and for parts without metrics. */
export const NO_METRICS: Metrics = {
  meter: () => IGNORED,
  histogram: () => IGNORED,
  timer: () => IGNORED,
  gauge: () => {},
  usage: () => {},
  dispose: () => {},
};
