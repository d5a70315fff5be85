/** Operations on metrics: the roll-ups of a time window, in steps. */
import { formatIsoDuration, invalidValue, latencyPercentile, parseIsoDuration } from '#domain';
import type { TrafficCounts } from '#domain/gateway-shapes';
import {
  busiestLines,
  environmentLines,
  environmentTraffic,
  frontdoorLine,
  frontdoorTraffic,
  shareLines,
  shareTraffic,
  sumOf,
} from '../metrics/metric-reader.ts';
import {
  MAX_DURATION_MS,
  metricWindow,
  MIN_DURATION_MS,
  MIN_STEP_MS,
  sparklineWindow,
  type MetricWindow,
} from '../metrics/metric-window-policy.ts';
import { findEnvironment } from '../records/environment-store.ts';
import { findShare } from '../records/share-record.ts';
import { notFound } from './api-errors.ts';
import { isoTime, ok, type ApiParts, type Handlers } from './call.ts';
import { listFilterOf, textOf, type Query } from './page-query.ts';

const DEFAULT_DURATION_MS = 3_600_000;
const MAX_SPARKLINES = 1_000;
const DEFAULT_BUSIEST = 10;

export const metricHandlers: Handlers<
  Pick<ApiParts, 'store' | 'clock' | 'busiest'>,
  | 'getFrontdoorMetrics'
  | 'getFrontdoorSparklines'
  | 'getEnvironmentMetrics'
  | 'getShareMetrics'
  | 'getShareSparklines'
  | 'getBusiestShares'
> = {
  async getFrontdoorMetrics(parts, { frontdoor, query }) {
    const { durationMs, window } = windowAsked(query, parts.clock.nowMs());
    const steps = await frontdoorTraffic(parts.store.db, frontdoor, window);
    return ok({ frontdoorId: frontdoor.id, ...metricsAnswer(durationMs, window, steps) });
  },

  async getEnvironmentMetrics(parts, { frontdoor, parameters, query }) {
    const { durationMs, window } = windowAsked(query, parts.clock.nowMs());
    const { id } = parameters;
    const environment = await findEnvironment(parts.store.db, frontdoor, id);
    if (environment === undefined) throw notFound('Environment', id);
    const steps = await environmentTraffic(parts.store.db, frontdoor, environment.id, window);
    const place = { frontdoorId: frontdoor.id, environmentId: environment.id };
    return ok({ ...place, ...metricsAnswer(durationMs, window, steps) });
  },

  async getShareMetrics(parts, { frontdoor, parameters, query }) {
    const { durationMs, window } = windowAsked(query, parts.clock.nowMs());
    const { token } = parameters;
    const share = await findShare(parts.store.db, frontdoor.id, token);
    if (share === undefined) throw notFound('Share', token);
    const steps = await shareTraffic(parts.store.db, share.id, window);
    return ok({
      frontdoorId: frontdoor.id,
      shareToken: share.token,
      ...metricsAnswer(durationMs, window, steps),
    });
  },

  async getShareSparklines(parts, { frontdoor, query }) {
    const durationMs = durationAsked(query);
    const window = sparklineWindow(durationMs, parts.clock.nowMs());
    const filter = { ...listFilterOf(query), tokens: textOf(query, 'tokens')?.split(',') };
    const lines = await shareLines(parts.store.db, frontdoor, filter, window, MAX_SPARKLINES);
    const sparklines = lines.map((line) => ({ scope: 'share' as const, ...line }));
    return ok(sparklinesAnswer(frontdoor.id, durationMs, window, sparklines));
  },

  async getBusiestShares(parts, { frontdoor, query }) {
    const { durationMs, window } = windowAsked(query, parts.clock.nowMs());
    const most = Number(textOf(query, 'top') ?? DEFAULT_BUSIEST);
    const shares = await parts.busiest.of(parts.store.db, frontdoor, window, most);
    const { startMs, stepMs, count } = window;
    return ok({
      frontdoorId: frontdoor.id,
      duration: formatIsoDuration(durationMs),
      start: isoTime(startMs),
      end: isoTime(startMs + count * stepMs),
      shares: shares.map(({ token, name, counts }) => ({ token, name, ...countsAnswer(counts) })),
    });
  },

  async getFrontdoorSparklines(parts, { frontdoor, query }) {
    const durationMs = durationAsked(query);
    const window = sparklineWindow(durationMs, parts.clock.nowMs());
    const { id, name } = frontdoor;
    const { db } = parts.store;
    const whole = { scope: 'frontdoor' as const, id, name, ...(await frontdoorLine(db, frontdoor, window)) };
    const busiest = textOf(query, 'busiest');
    const environments =
      busiest === undefined
        ? await environmentLines(db, frontdoor, window, MAX_SPARKLINES)
        : await busiestLines(db, frontdoor, window, Number(busiest));
    const sparklines = [whole, ...environments.map((line) => ({ scope: 'environment' as const, ...line }))];
    return ok(sparklinesAnswer(id, durationMs, window, sparklines));
  },
};

function sparklinesAnswer<Line>(
  frontdoorId: string,
  durationMs: number,
  window: MetricWindow,
  sparklines: readonly Line[],
) {
  return {
    frontdoorId,
    duration: formatIsoDuration(durationMs),
    step: formatIsoDuration(window.stepMs),
    start: isoTime(window.startMs),
    sparklines,
  };
}

function windowAsked(query: Query, nowMs: number): { durationMs: number; window: MetricWindow } {
  const durationMs = durationAsked(query);
  const stepMs = durationOf(query, 'step', MIN_STEP_MS, durationMs);
  return { durationMs, window: metricWindow(durationMs, stepMs, nowMs) };
}

function durationAsked(query: Query): number {
  return durationOf(query, 'duration', MIN_DURATION_MS, MAX_DURATION_MS) ?? DEFAULT_DURATION_MS;
}

function durationOf(query: Query, name: string, leastMs: number, mostMs: number): number | undefined {
  const text = textOf(query, name);
  if (text === undefined) return undefined;
  const ms = parseIsoDuration(text)!;
  if (ms < leastMs || ms > mostMs) {
    throw invalidValue(name, `duration from ${formatIsoDuration(leastMs)} to ${formatIsoDuration(mostMs)}`);
  }
  return ms;
}

function metricsAnswer(durationMs: number, window: MetricWindow, steps: readonly TrafficCounts[]) {
  const { startMs, stepMs } = window;
  return {
    duration: formatIsoDuration(durationMs),
    step: formatIsoDuration(stepMs),
    start: isoTime(startMs),
    end: isoTime(startMs + steps.length * stepMs),
    totals: countsAnswer(sumOf(steps)),
    samples: steps.map((step, i) => ({ timestamp: isoTime(startMs + i * stepMs), ...countsAnswer(step) })),
  };
}

function countsAnswer({ latency, byClass, ...counts }: TrafficCounts) {
  const percentile = (share: number) => latencyPercentile(latency, share);
  const [status2xx = 0, status3xx = 0, status4xx = 0, status5xx = 0] = byClass;
  const classes = { status2xx, status3xx, status4xx, status5xx };
  return {
    ...counts,
    ...classes,
    latencyMs: { p50: percentile(0.5), p95: percentile(0.95), p99: percentile(0.99) },
  };
}
