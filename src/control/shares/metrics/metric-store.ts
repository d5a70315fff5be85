/**
 * Adds gateways' traffic reports to the roll-ups. A batch and its number are one transaction, so that a repeated
 * batch counts once. Late traffic counts in every roll-up that is still kept. Concurrent reports of two gateways
 * about one span add up: each row is locked by its own upsert before its latencies are merged.
 */
import { sql, type Insertable } from 'kysely';
import { decodeLatencies, encodeLatencies, mergeLatencies, type LatencyHistogram } from '#domain';
import {
  addedByClass,
  MAX_TRAFFIC_BYTES,
  MAX_TRAFFIC_REQUESTS,
  TRAFFIC_SPAN_MS,
  type TrafficReport,
  type TrafficSample,
} from '#domain/gateway-shapes';
import { ownersOfEnvironments } from '../../overlay/records/mod.ts';
import { lockedForUpdate, type MetricRollupTable, type Queries, type Store } from '../../store/mod.ts';
import { fixedSlices } from './fixed-slices.ts';
import { ROLLUPS } from './rollup-table.ts';

export interface TakenReport {
  /** Whether the batch was added before. */
  readonly isDuplicate: boolean;
  /** Number of earlier batches of this source that never arrived. */
  readonly missing: number;
  /** Samples of environments or shares that do not exist, or belong elsewhere. */
  readonly unknown: number;
}

/** `sourceId` identifies the gateway and its process. Rejects with errors of the store. */
export function takeTrafficReport(
  store: Pick<Store, 'transaction'>,
  sourceId: string,
  report: TrafficReport,
  nowMs: number,
): Promise<TakenReport> {
  return store.transaction(async (trx) => {
    const lastBatch = await lockSource(trx, sourceId, nowMs);
    if (report.batch <= lastBatch) return { isDuplicate: true, missing: 0, unknown: 0 };
    const known = await knownSamples(trx, report.samples);
    await addToRollups(trx, rollupsOf(known, nowMs));
    await trx
      .updateTable('metric_source')
      .set({ last_batch: report.batch, seen_at: nowMs })
      .where('id', '=', sourceId)
      .execute();
    return {
      isDuplicate: false,
      missing: report.batch - lastBatch - 1,
      unknown: report.samples.length - known.length,
    };
  });
}

/** Returns the source's last batch number. Other batches of the source wait from here on. */
async function lockSource(trx: Queries, id: string, nowMs: number): Promise<number> {
  await trx
    .insertInto('metric_source')
    .values({ id, last_batch: 0, seen_at: nowMs })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
  const source = await lockedForUpdate(
    trx,
    trx.selectFrom('metric_source').select('last_batch').where('id', '=', id),
  ).executeTakeFirstOrThrow();
  return source.last_batch;
}

interface KnownSample {
  readonly sample: TrafficSample;
  /** False if it was deleted in the meantime. Its last traffic counts for its environment and frontdoor. */
  readonly hasShare: boolean;
}

/** Queries the database and not the model, because another replica may know a share that this one does not. */
async function knownSamples(trx: Queries, samples: readonly TrafficSample[]): Promise<KnownSample[]> {
  const frontdoorOf = new Map<string, string>();
  for (const ids of fixedSlices([...new Set(samples.map(({ environmentId }) => environmentId))])) {
    for (const [id, frontdoorId] of await ownersOfEnvironments(trx, ids)) frontdoorOf.set(id, frontdoorId);
  }
  const environmentOf = new Map<string, string>();
  for (const ids of fixedSlices([...new Set(samples.map(({ shareId }) => shareId))])) {
    const rows = await trx
      .selectFrom('share')
      .select(['id', 'environment_id'])
      .where('id', 'in', ids)
      .execute();
    for (const { id, environment_id } of rows) environmentOf.set(id, environment_id);
  }
  const known: KnownSample[] = [];
  for (const sample of samples) {
    const { shareId, environmentId, frontdoorId } = sample;
    const hosting = environmentOf.get(shareId);
    if (frontdoorOf.get(environmentId) !== frontdoorId) continue;
    if (hosting === undefined || hosting === environmentId)
      known.push({ sample, hasShare: hosting !== undefined });
  }
  return known;
}

type ClassColumn = 'status_2xx' | 'status_3xx' | 'status_4xx' | 'status_5xx';

type RollupRow = Omit<Insertable<MetricRollupTable>, 'latency' | ClassColumn> & {
  requests: number;
  errors: number;
  byClass: readonly number[];
  bytes_in: number;
  bytes_out: number;
  histogram: LatencyHistogram;
};

/** Returns the rows that the samples add to, in the order of their key, which prevents deadlocks. */
function rollupsOf(samples: readonly KnownSample[], nowMs: number): RollupRow[] {
  const rows = new Map<string, RollupRow>();
  for (const { sample, hasShare } of samples) {
    // A gateway whose clock is ahead must not report future traffic.
    const atMs = Math.min(sample.startsAt, nowMs - (nowMs % TRAFFIC_SPAN_MS));
    for (const { spanMs, keptMs } of ROLLUPS) {
      const startsAt = atMs - (atMs % spanMs);
      if (startsAt + keptMs < nowMs) continue;
      if (hasShare) add(rows, 'share', sample.shareId, spanMs, startsAt, sample);
      add(rows, 'environment', sample.environmentId, spanMs, startsAt, sample);
      add(rows, 'frontdoor', sample.frontdoorId, spanMs, startsAt, sample);
    }
  }
  return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

function add(
  rows: Map<string, RollupRow>,
  scope: MetricRollupTable['scope'],
  scopeId: string,
  spanMs: number,
  startsAt: number,
  sample: TrafficSample,
): void {
  const key = keyOf(scopeId, spanMs, startsAt);
  const row = rows.get(key);
  if (row === undefined) {
    const { requests, errors, byClass, latency: histogram } = sample;
    const { bytesIn: bytes_in, bytesOut: bytes_out } = sample;
    const place = { scope, scope_id: scopeId, resolution_ms: spanMs, starts_at: startsAt };
    rows.set(key, { ...place, requests, errors, byClass, bytes_in, bytes_out, histogram });
    return;
  }
  row.requests = Math.min(row.requests + sample.requests, MAX_TRAFFIC_REQUESTS);
  row.errors = Math.min(row.errors + sample.errors, MAX_TRAFFIC_REQUESTS);
  row.byClass = addedByClass(row.byClass, sample.byClass);
  row.bytes_in = Math.min(row.bytes_in + sample.bytesIn, MAX_TRAFFIC_BYTES);
  row.bytes_out = Math.min(row.bytes_out + sample.bytesOut, MAX_TRAFFIC_BYTES);
  row.histogram = mergeLatencies(row.histogram, sample.latency);
}

const KEY = ['scope_id', 'resolution_ms', 'starts_at'] as const;

async function addToRollups(trx: Queries, rollups: readonly RollupRow[]): Promise<void> {
  for (const slice of fixedSlices(rollups)) {
    // Counts first, which locks the rows and returns their current latencies.
    const before = await trx
      .insertInto('metric_rollup')
      .values(slice.map((row) => ({ ...columnsOf(row), latency: '' })))
      .onConflict((conflict) =>
        conflict.columns(KEY).doUpdateSet({
          requests: added('requests', MAX_TRAFFIC_REQUESTS),
          errors: added('errors', MAX_TRAFFIC_REQUESTS),
          status_2xx: added('status_2xx', MAX_TRAFFIC_REQUESTS),
          status_3xx: added('status_3xx', MAX_TRAFFIC_REQUESTS),
          status_4xx: added('status_4xx', MAX_TRAFFIC_REQUESTS),
          status_5xx: added('status_5xx', MAX_TRAFFIC_REQUESTS),
          bytes_in: added('bytes_in', MAX_TRAFFIC_BYTES),
          bytes_out: added('bytes_out', MAX_TRAFFIC_BYTES),
        }),
      )
      .returning([...KEY, 'latency'])
      .execute();
    const latencies = new Map(
      before.map((row) => [keyOf(row.scope_id, row.resolution_ms, row.starts_at), row.latency]),
    );
    await trx
      .insertInto('metric_rollup')
      .values(
        slice.map((row) => {
          const stored = latencies.get(keyOf(row.scope_id, row.resolution_ms, row.starts_at)) ?? '';
          const latency = encodeLatencies(mergeLatencies(decodeLatencies(stored), row.histogram));
          return { ...columnsOf(row), latency };
        }),
      )
      .onConflict((conflict) =>
        conflict.columns(KEY).doUpdateSet({ latency: (eb) => eb.ref('excluded.latency') }),
      )
      .execute();
  }
}

function columnsOf({ histogram: _histogram, byClass, ...row }: RollupRow) {
  const [status_2xx, status_3xx, status_4xx, status_5xx] = byClass;
  return { ...row, status_2xx, status_3xx, status_4xx, status_5xx };
}

/** Stops at the maximum, so that no report can make a row unreadable. */
function added(column: 'requests' | 'errors' | 'bytes_in' | 'bytes_out' | ClassColumn, most: number) {
  const stored = sql.ref(`metric_rollup.${column}`);
  const more = sql.ref(`excluded.${column}`);
  return sql<number>`case when ${stored} > ${most} - ${more} then ${most} else ${stored} + ${more} end`;
}

function keyOf(scopeId: string, spanMs: number, startsAt: number): string {
  return `${scopeId} ${spanMs} ${startsAt}`;
}
