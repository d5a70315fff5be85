/** Reads traffic from the roll-ups of a granted frontdoor and its resources. */
import { sql } from 'kysely';
import { decodeLatencies, mergeLatencies, NO_LATENCIES } from '#domain';
import { addedByClass, NO_RESPONSES, type TrafficCounts } from '#domain/gateway-shapes';
import { environmentsOf } from '../../overlay/records/mod.ts';
import { narrowed, type ListFilter, type Queries } from '../../store/mod.ts';
import type { GrantedFrontdoor } from '../records/frontdoor-store.ts';
import { fixedSlices } from './fixed-slices.ts';
import type { MetricWindow } from './metric-window-policy.ts';

const NOTHING: TrafficCounts = {
  requests: 0,
  errors: 0,
  byClass: [...NO_RESPONSES],
  bytesIn: 0,
  bytesOut: 0,
  latency: NO_LATENCIES,
};

/** Returns one entry per step, oldest first. */
export function frontdoorTraffic(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  window: MetricWindow,
): Promise<TrafficCounts[]> {
  return trafficOf(db, frontdoor.id, window);
}

/** Returns one entry per step, oldest first; all counts are zero if the environment is not in the frontdoor. */
export function environmentTraffic(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  environmentId: string,
  window: MetricWindow,
): Promise<TrafficCounts[]> {
  return trafficOf(db, environmentId, window, frontdoor);
}

/** Returns one entry per step, oldest first. The share is one that was found in a granted frontdoor. */
export function shareTraffic(db: Queries, shareId: string, window: MetricWindow): Promise<TrafficCounts[]> {
  return trafficOf(db, shareId, window);
}

export interface TrafficLine {
  readonly requests: readonly number[];
  readonly errors: readonly number[];
}

export interface NamedTrafficLine extends TrafficLine {
  readonly id: string;
  readonly name: string;
}

export async function frontdoorLine(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  window: MetricWindow,
): Promise<TrafficLine> {
  return (await linesOf(db, [frontdoor.id], window)).get(frontdoor.id)!;
}

/** One line per environment, at most so many, by name. */
export async function environmentLines(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  window: MetricWindow,
  most: number,
): Promise<NamedTrafficLine[]> {
  const environments = await environmentsOf(db, frontdoor.id)
    .select(['id', 'name'])
    .orderBy('name')
    .orderBy('id')
    .limit(most)
    .execute();
  return namedLines(db, environments, window);
}

/** One line per environment that has requests in the window, those with the most first, at most so many. */
export async function busiestLines(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  window: MetricWindow,
  most: number,
): Promise<NamedTrafficLine[]> {
  const environments = await rollupsIn(db, window)
    .innerJoin(
      environmentsOf(db, frontdoor.id).select(['id', 'name']).as('environment'),
      'environment.id',
      'metric_rollup.scope_id',
    )
    .groupBy(['environment.id', 'environment.name'])
    .having(({ eb, fn }) => eb(fn.sum('metric_rollup.requests'), '>', 0))
    .select(['environment.id', 'environment.name'])
    .orderBy(({ fn }) => fn.sum('metric_rollup.requests'), 'desc')
    .orderBy('environment.name')
    .orderBy('environment.id')
    .limit(most)
    .execute();
  return namedLines(db, environments, window);
}

/** Which shares have lines: those of an environment, with a token that contains `name`, and with one of `tokens`. */
export interface LineFilter extends Pick<ListFilter, 'name' | 'environmentId'> {
  readonly tokens: readonly string[] | undefined;
}

/** One line per share that fits, at most so many, by token. */
export async function shareLines(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  filter: LineFilter,
  window: MetricWindow,
  most: number,
): Promise<NamedTrafficLine[]> {
  let query = db.selectFrom('share').where('frontdoor_id', '=', frontdoor.id);
  if (filter.environmentId !== undefined) query = query.where('environment_id', '=', filter.environmentId);
  if (filter.tokens !== undefined) query = query.where('token', 'in', filter.tokens);
  const shares = await narrowed(query, { name: filter.name }, { name: 'token' })
    .select(['id', 'token as name'])
    .orderBy('token')
    .limit(most)
    .execute();
  const names = new Map(shares.map(({ id, name }) => [id, name]));
  // The API knows a share by its token.
  return (await namedLines(db, shares, window)).map((line) => ({ ...line, id: names.get(line.id)! }));
}

async function namedLines(
  db: Queries,
  scopes: readonly { readonly id: string; readonly name: string }[],
  window: MetricWindow,
): Promise<NamedTrafficLine[]> {
  const lines: NamedTrafficLine[] = [];
  // In slices, so that other statements run between them.
  for (const slice of fixedSlices(scopes)) {
    const ids = slice.map(({ id }) => id);
    const found = await linesOf(db, ids, window);
    for (const { id, name } of slice) lines.push({ id, name, ...found.get(id)! });
  }
  return lines;
}

async function trafficOf(
  db: Queries,
  scopeId: string,
  window: MetricWindow,
  owner?: GrantedFrontdoor,
): Promise<TrafficCounts[]> {
  const { startMs, stepMs, count } = window;
  let query = rollupsIn(db, window).where('metric_rollup.scope_id', '=', scopeId);
  if (owner !== undefined) {
    const own = environmentsOf(db, owner.id).select('id').where('id', '=', scopeId);
    query = query.where(({ exists }) => exists(own));
  }
  const rows = await query
    .select(['starts_at', 'requests', 'errors', 'bytes_in', 'bytes_out', 'latency'])
    .select(['status_2xx', 'status_3xx', 'status_4xx', 'status_5xx'])
    .execute();
  const steps = Array.from({ length: count }, () => NOTHING);
  for (const row of rows) {
    const step = Math.floor((row.starts_at - startMs) / stepMs);
    const { requests, errors, bytes_in: bytesIn, bytes_out: bytesOut } = row;
    const latency = decodeLatencies(row.latency);
    const byClass = [row.status_2xx, row.status_3xx, row.status_4xx, row.status_5xx];
    steps[step] = sumOf([steps[step]!, { requests, errors, byClass, bytesIn, bytesOut, latency }]);
  }
  return steps;
}

/** Returns the sum. */
export function sumOf(counts: readonly TrafficCounts[]): TrafficCounts {
  return counts.reduce(
    (sum, more) => ({
      requests: sum.requests + more.requests,
      errors: sum.errors + more.errors,
      byClass: addedByClass(sum.byClass, more.byClass),
      bytesIn: sum.bytesIn + more.bytesIn,
      bytesOut: sum.bytesOut + more.bytesOut,
      latency: mergeLatencies(sum.latency, more.latency),
    }),
    NOTHING,
  );
}

/** Summed by the database, so that only sums are transferred for a thousand environments. */
async function linesOf(
  db: Queries,
  scopeIds: readonly string[],
  window: MetricWindow,
): Promise<Map<string, TrafficLine>> {
  const { startMs, stepMs, count } = window;
  const step = sql<number>`(starts_at - cast(${startMs} as bigint)) / cast(${stepMs} as bigint)`;
  const rows = await rollupsIn(db, window)
    .where('metric_rollup.scope_id', 'in', scopeIds)
    .select([
      'scope_id',
      step.as('step'),
      sql<number>`cast(sum(requests) as bigint)`.as('requests'),
      sql<number>`cast(sum(errors) as bigint)`.as('errors'),
    ])
    .groupBy(['scope_id', sql`2`])
    .execute();
  const zeros = (): number[] => Array.from({ length: count }, () => 0);
  const lines = new Map(scopeIds.map((id) => [id, { requests: zeros(), errors: zeros() }]));
  for (const row of rows) {
    const line = lines.get(row.scope_id)!;
    line.requests[row.step] = row.requests;
    line.errors[row.step] = row.errors;
  }
  return lines;
}

/** The roll-ups that a window is read from. */
export function rollupsIn(db: Queries, { rollupMs, startMs, stepMs, count }: MetricWindow) {
  return db
    .selectFrom('metric_rollup')
    .where('metric_rollup.resolution_ms', '=', rollupMs)
    .where('metric_rollup.starts_at', '>=', startMs)
    .where('metric_rollup.starts_at', '<', startMs + count * stepMs);
}
