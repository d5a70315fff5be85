/**
 * The metrics in Prometheus' text format 0.0.4: OpenZiti's names behind `ziti_`, the router as label `source_id`, a
 * link as label `link_id` instead of a part of the name. Histograms and timers are summaries; timers are in seconds.
 */
import type { MetricReading } from './metric-registry.ts';
import type { HistogramReading } from './decaying-histogram.ts';
import type { MeterReading } from './rate-meter.ts';

export const PROMETHEUS_CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

type FamilyType = 'counter' | 'gauge' | 'summary';
type Labels = Readonly<Record<string, string>>;

interface Family {
  readonly type: FamilyType;
  readonly help: string;
  readonly lines: string[];
}

const QUANTILES = [
  ['0.5', 'p50'],
  ['0.75', 'p75'],
  ['0.95', 'p95'],
  ['0.99', 'p99'],
  ['0.999', 'p999'],
  ['0.9999', 'p9999'],
] as const;
const NANOSECONDS = 1e-9;

export function prometheusText(routerId: string, reading: MetricReading): string {
  const families = new Map<string, Family>();
  const add = (name: string, type: FamilyType, help: string): string[] => {
    let family = families.get(name);
    // Two metrics that only differ in characters that a name cannot have: the first keeps it.
    if (family !== undefined && family.type !== type) return [];
    family ??= { type, help, lines: [] };
    families.set(name, family);
    return family.lines;
  };
  for (const [metric, value] of reading.gauges) {
    const { name, labels } = namedAs(metric, routerId);
    add(name, 'gauge', helpOf(metric, labels)).push(sample(name, labels, value));
  }
  for (const [metric, meter] of reading.meters) {
    const { name, labels } = namedAs(metric, routerId);
    const help = helpOf(metric, labels);
    add(`${name}_total`, 'counter', help).push(sample(`${name}_total`, labels, meter.count));
    addRates(add(`${name}_per_second`, 'gauge', `${help}, a second`), `${name}_per_second`, labels, meter);
  }
  for (const [metric, histogram] of reading.histograms) {
    const { name, labels } = namedAs(metric, routerId);
    addSummary(add(name, 'summary', helpOf(metric, labels)), name, labels, histogram, 1);
  }
  for (const [metric, timer] of reading.timers) {
    const { name, labels } = namedAs(metric, routerId);
    const help = helpOf(metric, labels);
    const seconds = `${name}_seconds`;
    addSummary(add(seconds, 'summary', help), seconds, labels, timer, NANOSECONDS);
    addRates(add(`${name}_per_second`, 'gauge', `${help}, a second`), `${name}_per_second`, labels, timer);
  }
  return [...families]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(
      ([name, { type, help, lines }]) => `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`,
    )
    .join('');
}

/** `link.<id>.tx.msgrate` and `link.dropped_msgs:<id>` are one family each, whatever the link. */
function namedAs(metric: string, routerId: string): { readonly name: string; readonly labels: Labels } {
  const colon = metric.indexOf(':');
  if (colon > 0) return labelled(metric.slice(0, colon), routerId, metric.slice(colon + 1));
  const link = /^link\.(.+?)\.((?:[rt]x\.)?[^.]+)$/s.exec(metric);
  if (link !== null) return labelled(`link.${link[2]}`, routerId, link[1]);
  return labelled(metric, routerId);
}

function labelled(metric: string, routerId: string, linkId?: string) {
  const name = `ziti_${metric.replaceAll(/[^a-zA-Z0-9_]/g, '_')}`;
  return { name, labels: { source_id: routerId, ...(linkId === undefined ? {} : { link_id: linkId }) } };
}

function helpOf(metric: string, labels: Labels): string {
  const linkId = labels['link_id'];
  const text = linkId === undefined ? metric : metric.replace(linkId, '<link>');
  return text.replaceAll('\\', String.raw`\\`).replaceAll('\n', String.raw`\n`);
}

function addRates(lines: string[], name: string, labels: Labels, meter: MeterReading): void {
  lines.push(
    sample(name, { ...labels, window: '1m' }, meter.m1Rate),
    sample(name, { ...labels, window: '5m' }, meter.m5Rate),
    sample(name, { ...labels, window: '15m' }, meter.m15Rate),
  );
}

function addSummary(
  lines: string[],
  name: string,
  labels: Labels,
  histogram: HistogramReading,
  unit: number,
): void {
  for (const [quantile, key] of QUANTILES) {
    lines.push(sample(name, { ...labels, quantile }, histogram[key] * unit));
  }
  lines.push(
    sample(`${name}_sum`, labels, histogram.sum * unit),
    sample(`${name}_count`, labels, histogram.count),
  );
}

function sample(name: string, labels: Labels, value: number): string {
  const inside = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}{${inside.join(',')}} ${value}\n`;
}

function escaped(text: string): string {
  return text
    .replaceAll('\\', String.raw`\\`)
    .replaceAll('"', String.raw`\"`)
    .replaceAll('\n', String.raw`\n`);
}
