/** Events for those who operate a network, in the JSON of OpenZiti 1.7.2: dials, metrics, alerts, entities, control planes. */
import { randomUUID } from 'node:crypto';
import { shortPatternOf } from '#base/shapes';
import { isoTime } from '../client-api/service-view.ts';
import type { JsonObject, MetricsReport } from '../../overlay/model/mod.ts';
import {
  eventText,
  headOf,
  optional,
  quoted,
  simpleReader,
  unknownOption,
  type AnySubscription,
} from './event-text.ts';

const COUNT_INTERVAL_MS = 300_000;
const MIN_COUNT_INTERVAL_MS = 1_000;
const MAX_COUNT_INTERVAL_MS = 86_400_000;
/** Units of Go's durations. */
const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

export const readServices = simpleReader('service', function* (event, head) {
  const { type, serviceId, terminatorId, count, intervalStartS, intervalLengthS } = event;
  yield {
    ...head,
    version: 2,
    event_type: type,
    terminator_id: terminatorId,
    service_id: serviceId,
    count,
    interval_start_utc: intervalStartS,
    interval_length: intervalLengthS,
  };
});

export const readAlerts = simpleReader('alert', function* (event, head) {
  const { atMs, sourceType, sourceId, severity, message, details, relatedEntities } = event;
  yield {
    ...head,
    timestamp: isoTime(atMs),
    alert_source_type: sourceType,
    alert_source_id: sourceId,
    severity,
    message,
    details,
    related_entities: relatedEntities,
  };
});

export const readClusters = simpleReader('cluster', function* ({ type, index, addresses }, head) {
  const peers = addresses?.map((addr) => ({ addr, apiAddresses: null }));
  yield { ...head, eventType: type, ...optional('index', index), ...optional('peers', peers) };
});

/** The change, and that it is committed: events are made of nothing that was rolled back. */
export const readEntityChanges = simpleReader('entityChange', function* (event, head) {
  const { type, entityType, before, after, metadata } = event;
  const eventId = randomUUID();
  yield {
    ...head,
    eventId,
    eventType: type,
    metadata,
    entityType,
    isParentEvent: false,
    initialState: before ?? null,
    finalState: after ?? null,
  };
  yield { ...head, eventId, eventType: 'committed' };
});

export function readEntityCounts(namespace: string, options: JsonObject): AnySubscription | string {
  const { interval, ...others } = options;
  const intervalMs = interval === undefined ? COUNT_INTERVAL_MS : durationMs(interval);
  const problem = unknownOption(others);
  if (problem !== undefined) return `${namespace}: ${problem}`;
  if (intervalMs === undefined) return `${namespace}: interval ${quoted(interval)} is not from 1s to 24h`;
  return {
    kind: 'entityCount',
    intervalMs,
    view: (counts, origin) => eventText('entityCount', { ...headOf(namespace, origin), counts }),
  };
}

/** Reads `1h2m3.5s`. Returns undefined for another text, and beyond the bounds. */
function durationMs(value: unknown): number | undefined {
  if (typeof value !== 'string' || !/^(?:\d{1,9}(?:\.\d{1,9})?(?:ns|us|µs|ms|s|m|h))+$/.test(value))
    return undefined;
  let ms = 0;
  for (const [, count, unit] of value.matchAll(/([\d.]+)([a-zµ]+)/g)) ms += Number(count) * UNIT_MS[unit!]!;
  return ms >= MIN_COUNT_INTERVAL_MS && ms <= MAX_COUNT_INTERVAL_MS ? ms : undefined;
}

export function readMetrics(namespace: string, options: JsonObject): AnySubscription | string {
  const { sourceFilter, metricFilter, ...others } = options;
  const [isSource, isMetric] = [shortPatternOf(sourceFilter), shortPatternOf(metricFilter)];
  const problem = unknownOption(others);
  if (problem !== undefined) return `${namespace}: ${problem}`;
  for (const filter of [isSource, isMetric])
    if (typeof filter === 'string') return `${namespace}: filter ${filter}`;
  const [takesSource, takesMetric] = [isSource, isMetric] as ((text: string) => boolean)[];
  return {
    kind: 'metrics',
    *view(report, origin) {
      if (!takesSource!(report.routerId)) return;
      const head = {
        ...headOf(namespace, origin),
        timestamp: isoTime(report.atMs),
        source_id: report.routerId,
        version: 3,
        source_event_id: report.eventId,
      };
      for (const metric of report.metrics) {
        const values = Object.entries(metric.values).filter(([field]) =>
          takesMetric!(`${metric.name}.${field === 'value' ? '' : field}`),
        );
        if (values.length === 0) continue;
        const { name, entityId, tags } = namedMetric(metric, report);
        yield eventText('metrics', {
          ...head,
          metric_type: metric.type,
          metric: name,
          metrics: Object.fromEntries(values),
          ...optional('source_entity_id', entityId),
          ...(Object.keys(tags).length === 0 ? {} : { tags }),
        });
      }
    },
  };
}

/** Metrics of links and control channels have the id of the entity apart from the name. */
function namedMetric(
  { name }: { readonly name: string },
  { tags, linkEnds }: MetricsReport,
): { readonly name: string; readonly entityId?: string; readonly tags: Readonly<Record<string, string>> } {
  const [, prefix, id] = /^(ctrl\.[^:]*|link\.[^:]*):([^:]+)$/.exec(name) ?? [];
  if (prefix !== undefined && id !== undefined) return { name: prefix, entityId: id, tags: linkTags(id) };
  const [, linkId, suffix] = /^link\.(.+?)\.(latency|queue_time|[^.]+\.[^.]+)$/.exec(name) ?? [];
  if (linkId === undefined || suffix === undefined) return { name, tags };
  return { name: `link.${suffix}`, entityId: linkId, tags: linkTags(linkId) };

  function linkTags(entityId: string): Readonly<Record<string, string>> {
    const ends = linkEnds(entityId);
    if (ends === undefined) return tags;
    return { ...tags, sourceRouterId: ends.sourceId, targetRouterId: ends.destinationId };
  }
}
