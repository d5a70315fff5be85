/**
 * The shares of a frontdoor with the most requests of a window. Ten thousand shares have a million roll-ups in a day, so they are
 * ranked by coarse ones, and only the first of these are read exactly.
 */
import { sql } from 'kysely';
import { decodeLatencies, mergeLatencies, NO_LATENCIES } from '#domain';
import type { TrafficCounts } from '#domain/gateway-shapes';
import type { Queries } from '../../store/mod.ts';
import type { GrantedFrontdoor } from '../records/frontdoor-store.ts';
import { fixedSlices } from './fixed-slices.ts';
import { rankingWindow, type MetricWindow } from './metric-window-policy.ts';
import { rollupsIn } from './metric-reader.ts';

export interface BusyShare {
  readonly token: string;
  readonly name: string | null;
  readonly counts: TrafficCounts;
}

/** Ranked roughly before some of them are read exactly. */
const CANDIDATES_A_PLACE = 4;

interface ShareRow {
  readonly id: string;
  readonly token: string;
  readonly name: string | null;
}

/** Those that have requests, the one with the most first, at most so many. */
export async function busiestShares(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  window: MetricWindow,
  most: number,
): Promise<BusyShare[]> {
  const candidates = await ranked(db, frontdoor, rankingWindow(window), most * CANDIDATES_A_PLACE);
  const found: BusyShare[] = [];
  for (const slice of fixedSlices(candidates)) {
    const counts = await exactCounts(db, slice, window);
    for (const { id, token, name } of slice) {
      const own = counts.get(id);
      if (own !== undefined) found.push({ token, name, counts: own });
    }
  }
  return found
    .toSorted((a, b) => b.counts.requests - a.counts.requests || (a.token < b.token ? -1 : 1))
    .slice(0, most);
}

async function ranked(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  window: MetricWindow,
  most: number,
): Promise<ShareRow[]> {
  const shares = await db
    .selectFrom('share')
    .select(['id', 'token', 'name'])
    .where('frontdoor_id', '=', frontdoor.id)
    .orderBy('id')
    .execute();
  const requestsOf = new Map<string, number>();
  // In slices, so that other statements run between them.
  for (const slice of fixedSlices(shares)) {
    const rows = await rollupsIn(db, window)
      .where(
        'metric_rollup.scope_id',
        'in',
        slice.map(({ id }) => id),
      )
      .select(['scope_id', sql<number>`cast(sum(requests) as bigint)`.as('requests')])
      .groupBy('scope_id')
      .execute();
    for (const { scope_id, requests } of rows) if (requests > 0) requestsOf.set(scope_id, requests);
  }
  return shares
    .filter(({ id }) => requestsOf.has(id))
    .toSorted((a, b) => requestsOf.get(b.id)! - requestsOf.get(a.id)!)
    .slice(0, most);
}

/** By the id of the share. The database adds up all but the latencies, which it cannot. */
async function exactCounts(
  db: Queries,
  shares: readonly ShareRow[],
  window: MetricWindow,
): Promise<Map<string, TrafficCounts>> {
  const ids = shares.map(({ id }) => id);
  const added = (column: string) => sql<number>`cast(sum(${sql.ref(column)}) as bigint)`;
  const sums = await rollupsIn(db, window)
    .where('metric_rollup.scope_id', 'in', ids)
    .select([
      'scope_id',
      added('requests').as('requests'),
      added('errors').as('errors'),
      added('bytes_in').as('bytesIn'),
      added('bytes_out').as('bytesOut'),
      added('status_2xx').as('status2xx'),
      added('status_3xx').as('status3xx'),
      added('status_4xx').as('status4xx'),
      added('status_5xx').as('status5xx'),
    ])
    .groupBy('scope_id')
    .execute();
  const latencies = new Map<string, TrafficCounts['latency']>();
  const rows = await rollupsIn(db, window)
    .where('metric_rollup.scope_id', 'in', ids)
    .select(['scope_id', 'latency'])
    .execute();
  for (const { scope_id, latency } of rows)
    latencies.set(
      scope_id,
      mergeLatencies(latencies.get(scope_id) ?? NO_LATENCIES, decodeLatencies(latency)),
    );
  return new Map(
    sums
      .filter(({ requests }) => requests > 0)
      .map((row) => {
        const { scope_id: id, requests, errors, bytesIn, bytesOut } = row;
        const byClass = [row.status2xx, row.status3xx, row.status4xx, row.status5xx];
        return [id, { requests, errors, byClass, bytesIn, bytesOut, latency: latencies.get(id)! }];
      }),
  );
}
