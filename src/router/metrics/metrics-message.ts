/** Creates a report for controllers (1007): the readings, under a new id, and the buckets of usage that are due. */
import { randomUUID } from 'node:crypto';
import type { CtrlInit } from '#wire/ctrl';
import type { HistogramReading } from './decaying-histogram.ts';
import type { MetricReading } from './metric-registry.ts';
import type { MeterReading } from './rate-meter.ts';
import type { UsageBucket } from './usage-ledger.ts';

export type MetricsMessage = CtrlInit<'metrics'>;

export function makeMetricsMessage(
  sourceId: string,
  nowMs: number,
  reading: MetricReading,
  usage: readonly UsageBucket[],
): MetricsMessage {
  const intValues: Record<string, bigint> = {};
  const floatValues: Record<string, number> = {};
  for (const [name, value] of reading.gauges) {
    if (Number.isSafeInteger(value)) intValues[name] = BigInt(value);
    else floatValues[name] = value;
  }
  return {
    eventId: randomUUID(),
    sourceId,
    timestamp: { seconds: BigInt(Math.floor(nowMs / 1_000)), nanos: Math.floor(nowMs % 1_000) * 1_000_000 },
    intValues,
    floatValues,
    meters: mapped(reading.meters, meterOf),
    histograms: mapped(reading.histograms, histogramOf),
    timers: mapped(reading.timers, (timer) => ({ ...histogramOf(timer), ...ratesOf(timer) })),
    usageCounters: usage.map(({ startMs, lengthMs, circuits }) => ({
      intervalStartUTC: BigInt(Math.floor(startMs / 1_000)),
      intervalLength: BigInt(Math.floor(lengthMs / 1_000)),
      buckets: mapped(circuits, ({ bytes, tags }) => ({ values: mapped(bytes, BigInt), tags })),
    })),
  };
}

function mapped<From, To>(values: ReadonlyMap<string, From>, to: (value: From) => To): Record<string, To> {
  return Object.fromEntries([...values].map(([name, value]) => [name, to(value)]));
}

function ratesOf({ m1Rate, m5Rate, m15Rate, meanRate }: MeterReading) {
  return { m1Rate, m5Rate, m15Rate, meanRate };
}

function meterOf(meter: MeterReading) {
  return { count: whole(meter.count), ...ratesOf(meter) };
}

function histogramOf({ count, min, max, sum: _sum, ...rest }: HistogramReading) {
  const { mean, stdDev, variance, p50, p75, p95, p99, p999, p9999 } = rest;
  return {
    count: whole(count),
    min: whole(min),
    max: whole(max),
    mean,
    stdDev,
    variance,
    p50,
    p75,
    p95,
    p99,
    p999,
    p9999,
  };
}

function whole(value: number): bigint {
  return BigInt(Math.round(value));
}
