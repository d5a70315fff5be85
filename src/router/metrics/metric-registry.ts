/**
 * The router's metrics by name. Metrics of the data path are created once and only incremented afterwards. Rates and
 * weights advance with a tick every five seconds. They are read for reports and for Prometheus.
 */
import { FrontdoorError, messageOf, type Clock, type Log, type WorkerPool } from '#base';
import { DecayClock, DecayingHistogram, type HistogramReading } from './decaying-histogram.ts';
import type { Metrics, Timer, UsageKind, UsageTags } from './metrics.ts';
import { RateMeter, TICK_MS, type MeterReading } from './rate-meter.ts';
import { UsageLedger, type UsageBucket } from './usage-ledger.ts';

export interface MetricRegistryOptions {
  /** Duration of a bucket of usage. */
  readonly reportIntervalMs: number;
  readonly intervalAgeThresholdMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

export type TimerReading = HistogramReading & MeterReading;

export interface MetricReading {
  readonly gauges: ReadonlyMap<string, number>;
  readonly meters: ReadonlyMap<string, MeterReading>;
  readonly histograms: ReadonlyMap<string, HistogramReading>;
  /** Values in nanoseconds. */
  readonly timers: ReadonlyMap<string, TimerReading>;
}

class DurationTimer implements Timer {
  readonly meter: RateMeter;
  readonly histogram: DecayingHistogram;

  constructor(meter: RateMeter, histogram: DecayingHistogram) {
    this.meter = meter;
    this.histogram = histogram;
  }

  update(nanoseconds: number): void {
    this.meter.mark(1);
    this.histogram.update(nanoseconds);
  }
}

class Gauge {
  readonly read: () => number;

  constructor(read: () => number) {
    this.read = read;
  }
}

type Metric = RateMeter | DecayingHistogram | DurationTimer | Gauge;

export class MetricRegistry implements Metrics {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #metrics = new Map<string, Metric>();
  readonly #usage: UsageLedger;
  readonly #decay: DecayClock;
  readonly #timer: NodeJS.Timeout;
  #tickedMs: number;

  constructor({ reportIntervalMs, intervalAgeThresholdMs, clock, log }: MetricRegistryOptions) {
    this.#clock = clock;
    this.#log = log;
    this.#tickedMs = clock.nowMs();
    this.#decay = new DecayClock(this.#tickedMs);
    this.#usage = new UsageLedger({ intervalMs: reportIntervalMs, ageThresholdMs: intervalAgeThresholdMs });
    this.#timer = setInterval(() => this.tick(), TICK_MS);
    this.#timer.unref();
  }

  meter(name: string): RateMeter {
    return this.#named(name, RateMeter, () => new RateMeter(this.#clock.nowMs()));
  }

  histogram(name: string): DecayingHistogram {
    return this.#named(name, DecayingHistogram, () => new DecayingHistogram(this.#decay));
  }

  timer(name: string): Timer {
    return this.#named(
      name,
      DurationTimer,
      () => new DurationTimer(new RateMeter(this.#clock.nowMs()), new DecayingHistogram(this.#decay)),
    );
  }

  /** Replaces a gauge of the same name, because its part was restarted. */
  gauge(name: string, read: () => number): void {
    const known = this.#metrics.get(name);
    if (known !== undefined && !(known instanceof Gauge)) throw otherKind(name);
    this.#metrics.set(name, new Gauge(read));
  }

  usage(circuitId: string, kind: UsageKind, bytes: number): void {
    this.#usage.add(circuitId, kind, bytes, this.#clock.nowMs());
  }

  tagUsage(tagsOf: UsageTags): void {
    this.#usage.tagBy(tagsOf);
  }

  /** Registers `pool.<name>.queue_size` and the other gauges of a pool. */
  addPool(pool: WorkerPool): void {
    this.gauge(`pool.${pool.name}.queue_size`, () => pool.queueSize);
    this.gauge(`pool.${pool.name}.worker_count`, () => pool.workerCount);
    this.gauge(`pool.${pool.name}.busy_workers`, () => pool.busyCount);
  }

  dispose(prefix: string): void {
    for (const name of this.#metrics.keys()) if (name.startsWith(prefix)) this.#metrics.delete(name);
  }

  /** Returns the mean of a histogram, or undefined if it does not exist. */
  meanOf(name: string): number | undefined {
    const metric = this.#metrics.get(name);
    return metric instanceof DecayingHistogram ? metric.mean : undefined;
  }

  read(): MetricReading {
    this.tick();
    const nowMs = this.#clock.nowMs();
    const gauges = new Map<string, number>();
    const meters = new Map<string, MeterReading>();
    const histograms = new Map<string, HistogramReading>();
    const timers = new Map<string, TimerReading>();
    for (const [name, metric] of this.#metrics) {
      if (metric instanceof RateMeter) meters.set(name, metric.read(nowMs));
      else if (metric instanceof DecayingHistogram) histograms.set(name, metric.read());
      else if (metric instanceof Gauge) this.#readGauge(name, metric, gauges);
      else {
        const rates = metric.meter.read(nowMs);
        timers.set(name, { ...rates, ...metric.histogram.read() });
      }
    }
    return { gauges, meters, histograms, timers };
  }

  /** Removes and returns the buckets of usage that are due. */
  takeUsage(): UsageBucket[] {
    return this.#usage.take(this.#clock.nowMs());
  }

  /** Advances rates to the current time. Called by a timer and before each reading. */
  tick(): void {
    const nowMs = this.#clock.nowMs();
    const times = Math.floor((nowMs - this.#tickedMs) / TICK_MS);
    if (times < 0) this.#tickedMs = nowMs;
    if (times < 1) return;
    this.#tickedMs += times * TICK_MS;
    const factor = this.#decay.tick(nowMs);
    for (const metric of this.#metrics.values()) {
      if (metric instanceof RateMeter) metric.tick(times);
      else if (metric instanceof DurationTimer) metric.meter.tick(times);
      if (factor === 1) continue;
      if (metric instanceof DecayingHistogram) metric.rescale(factor);
      else if (metric instanceof DurationTimer) metric.histogram.rescale(factor);
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #named<M extends Metric>(name: string, kind: abstract new (...args: never[]) => M, make: () => M): M {
    const known = this.#metrics.get(name);
    if (known === undefined) {
      const made = make();
      this.#metrics.set(name, made);
      return made;
    }
    if (!(known instanceof kind)) throw otherKind(name);
    return known;
  }

  #readGauge(name: string, gauge: Gauge, into: Map<string, number>): void {
    try {
      const value = gauge.read();
      if (Number.isFinite(value)) into.set(name, value);
    } catch (error) {
      this.#log.debug({ metric: name, err: messageOf(error) }, 'gauge cannot be read');
    }
  }
}

function otherKind(name: string): FrontdoorError {
  return new FrontdoorError('internal', 'metric-kind', `the metric ${name} is of another kind`);
}
