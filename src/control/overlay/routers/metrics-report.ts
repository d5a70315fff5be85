/** Reads all metrics of a report of a router, for events. */
import { randomUUID } from 'node:crypto';
import type { CtrlBody } from '#wire/ctrl';
import type { Metric, MetricsReport } from '../model/fabric-events.ts';
import type { LinkRegistry } from '../mesh/link-registry.ts';

type Message = CtrlBody<'metrics'>;
type Distribution = Omit<Message['histograms'][string], '$typeName' | '$unknown'>;
type Rates = Omit<Message['meters'][string], '$typeName' | '$unknown'>;

export function metricsOf(
  routerId: string,
  message: Message,
  links: Pick<LinkRegistry, 'get'>,
  nowMs: number,
): MetricsReport {
  const { timestamp, tags, intValues, floatValues, meters, histograms, timers } = message;
  const metrics: Metric[] = [
    ...each(intValues, 'intValue', (value) => ({ value: Number(value) })),
    ...each(floatValues, 'floatValue', (value) => ({ value })),
    ...each(meters, 'meter', ratesOf),
    ...each(histograms, 'histogram', distributionOf),
    ...each(timers, 'timer', (timer) => ({ ...ratesOf(timer), ...distributionOf(timer) })),
  ];
  const linkEnds = (id: string) => links.get(id);
  const atMs = timestamp === undefined ? nowMs : Number(timestamp.seconds) * 1_000 + timestamp.nanos / 1e6;
  return { routerId, atMs, eventId: randomUUID(), tags, metrics, linkEnds };
}

function each<T>(
  values: Readonly<Record<string, T>>,
  type: Metric['type'],
  read: (value: T) => Metric['values'],
): Metric[] {
  return Object.entries(values).map(([name, value]) => ({ name, type, values: read(value) }));
}

function ratesOf({ count, meanRate, m1Rate, m5Rate, m15Rate }: Rates): Metric['values'] {
  return {
    count: Number(count),
    mean_rate: meanRate,
    m1_rate: m1Rate,
    m5_rate: m5Rate,
    m15_rate: m15Rate,
  };
}

function distributionOf(value: Distribution): Metric['values'] {
  const { count, min, max, mean, stdDev, variance, p50, p75, p95, p99, p999, p9999 } = value;
  return {
    count: Number(count),
    min: Number(min),
    max: Number(max),
    mean,
    std_dev: stdDev,
    variance,
    p50,
    p75,
    p95,
    p99,
    p999,
    p9999,
  };
}
