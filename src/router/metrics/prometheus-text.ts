/**
 * Formats the metrics in Prometheus' text format 0.0.4: OpenZiti's names with the prefix `ziti_`, the router as label
 * `source_id`, and a link as label `link_id` instead of a part of the name. Histograms and timers are summaries; timers
 * are in seconds.
 */
import { definedFields } from '#base';
import type { Exposition, Labels, SummaryReading } from '#net/metrics';
import type { MetricReading } from './metric-registry.ts';
import type { HistogramReading } from './decaying-histogram.ts';
import type { MeterReading } from './rate-meter.ts';

type Family = { readonly help: string } & (
  | { readonly type: 'counter' | 'gauge'; readonly samples: [Labels, number][] }
  | { readonly type: 'summary'; readonly series: [Labels, SummaryReading][] }
);

const QUANTILES = [
  ['0.5', 'p50'],
  ['0.75', 'p75'],
  ['0.95', 'p95'],
  ['0.99', 'p99'],
  ['0.999', 'p999'],
  ['0.9999', 'p9999'],
] as const;
const NANOSECONDS = 1e-9;

/** Metric families in the order of their names. */
export function writeRouterMetrics(to: Exposition, routerId: string, reading: MetricReading): void {
  const families = familiesOf(routerId, reading);
  for (const name of [...families.keys()].sort()) {
    const family = families.get(name)!;
    if (family.type === 'summary') to.summary(name, family.help, family.series);
    else to.family(name, family.type, family.help, family.samples);
  }
}

function familiesOf(routerId: string, reading: MetricReading): ReadonlyMap<string, Family> {
  const families = new Map<string, Family>();
  // If two metrics differ only in characters that are not allowed in names, the first one keeps the name.
  const samplesOf = (name: string, type: 'counter' | 'gauge', help: string): [Labels, number][] => {
    const family = families.get(name) ?? { type, help, samples: [] };
    families.set(name, family);
    return family.type === type ? family.samples : [];
  };
  const seriesOf = (name: string, help: string): [Labels, SummaryReading][] => {
    const family = families.get(name) ?? { type: 'summary', help, series: [] };
    families.set(name, family);
    return family.type === 'summary' ? family.series : [];
  };
  const addRates = (name: string, help: string, labels: Labels, meter: MeterReading): void => {
    samplesOf(`${name}_per_second`, 'gauge', `${help}, a second`).push(
      [{ ...labels, window: '1m' }, meter.m1Rate],
      [{ ...labels, window: '5m' }, meter.m5Rate],
      [{ ...labels, window: '15m' }, meter.m15Rate],
    );
  };
  for (const [metric, value] of reading.gauges) {
    const { name, labels } = namedAs(metric, routerId);
    samplesOf(name, 'gauge', helpOf(metric, labels)).push([labels, value]);
  }
  for (const [metric, meter] of reading.meters) {
    const { name, labels } = namedAs(metric, routerId);
    const help = helpOf(metric, labels);
    samplesOf(`${name}_total`, 'counter', help).push([labels, meter.count]);
    addRates(name, help, labels, meter);
  }
  for (const [metric, histogram] of reading.histograms) {
    const { name, labels } = namedAs(metric, routerId);
    seriesOf(name, helpOf(metric, labels)).push([labels, summaryOf(histogram, 1)]);
  }
  for (const [metric, timer] of reading.timers) {
    const { name, labels } = namedAs(metric, routerId);
    const help = helpOf(metric, labels);
    seriesOf(`${name}_seconds`, help).push([labels, summaryOf(timer, NANOSECONDS)]);
    addRates(name, help, labels, timer);
  }
  return families;
}

/** `link.<id>.tx.msgrate` and `link.dropped_msgs:<id>` are one family for all links. */
function namedAs(metric: string, routerId: string): { readonly name: string; readonly labels: Labels } {
  const colon = metric.indexOf(':');
  if (colon > 0) return labelled(metric.slice(0, colon), routerId, metric.slice(colon + 1));
  const link = /^link\.(.+?)\.((?:[rt]x\.)?[^.]+)$/s.exec(metric);
  if (link !== null) return labelled(`link.${link[2]}`, routerId, link[1]);
  return labelled(metric, routerId);
}

function labelled(metric: string, routerId: string, linkId?: string) {
  const name = `ziti_${metric.replaceAll(/[^a-zA-Z0-9_]/g, '_')}`;
  return { name, labels: definedFields({ source_id: routerId, link_id: linkId }) };
}

function helpOf(metric: string, labels: Labels): string {
  const linkId = labels['link_id'];
  return linkId === undefined ? metric : metric.replace(linkId, '<link>');
}

function summaryOf(reading: HistogramReading, unit: number): SummaryReading {
  return {
    quantiles: QUANTILES.map(([quantile, key]) => [quantile, reading[key] * unit]),
    sum: reading.sum * unit,
    count: reading.count,
  };
}
