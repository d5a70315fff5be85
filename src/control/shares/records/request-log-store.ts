/**
 * The request log of each frontdoor (ADR 0112). Gateways report entries in batches, repeatedly if an acknowledgement
 * was lost. Its usage is counted in the same transactions, so that no statement counts entries. Beyond a limit the
 * oldest entries of the larger class are removed, served requests or the others, so that each has half of the limit.
 */
import { sql, type Insertable } from 'kysely';
import type { LoggedRequest } from '#domain/gateway-shapes';
import { lockedForUpdate, type Database, type Queries, type Store } from '../../store/mod.ts';
import {
  DEFAULT_REQUEST_LOG,
  requestLogSettings,
  type RequestLogSetting,
} from './request-log-setting-store.ts';

const ROWS_A_STATEMENT = 100;
const REMOVED_AT_ONCE = 1_000;
/** A report brings 500 entries at most, and this removes more than these. */
const REMOVALS_A_REPORT = 3;
/** After any time of an entry. */
const EVER_MS = 1e15;
/** Numbers, the keys of two indexes, and what the database adds. */
const FIXED_BYTES = 420;

export interface ReportedRequests {
  readonly records: readonly LoggedRequest[];
  readonly gatewayId: string;
  /** Returns the owner of an entry from its share alone, whatever the gateway reported. */
  readonly shareOf: (shareId: string) => { readonly frontdoorId: string; readonly token: string } | undefined;
  readonly nowMs: number;
}

export interface RequestLogUsage {
  readonly entries: number;
  readonly bytes: number;
}

/** Stores new entries, and removes the oldest beyond the limits. Entries of deleted shares are dropped. */
export async function putLoggedRequests(store: Store, reported: ReportedRequests): Promise<void> {
  const rows = reported.records.flatMap((record) => rowOf(record, reported) ?? []);
  const frontdoorIds = [...new Set(rows.map((row) => row.frontdoor_id))].sort();
  if (frontdoorIds.length === 0) return;
  const settings = await requestLogSettings(store.db, frontdoorIds);
  const settingOf = (id: string): RequestLogSetting => settings.get(id) ?? DEFAULT_REQUEST_LOG;
  const kept = rows
    .filter((row) => settingOf(row.frontdoor_id).isEnabled)
    // Two control planes that receive the same report insert its rows in the same order.
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  await store.transaction((trx) => insertCounted(trx, kept));
  for (const id of frontdoorIds) {
    for (let i = 0; i < REMOVALS_A_REPORT; i += 1) {
      if ((await removeSurplus(store, id, settingOf(id))) === 0) break;
    }
  }
}

export async function requestLogUsage(db: Queries, frontdoorId: string): Promise<RequestLogUsage> {
  const rows = await usageRows(db, frontdoorId).execute();
  return {
    entries: rows.reduce((sum, { entries }) => sum + entries, 0),
    bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** Removes at most 1,000 entries beyond the limits, and returns their number. */
function removeSurplus(
  store: Pick<Store, 'transaction'>,
  frontdoorId: string,
  { maxEntries, maxBytes }: Pick<RequestLogSetting, 'maxEntries' | 'maxBytes'>,
): Promise<number> {
  return store.transaction(async (trx) => {
    const rows = await lockedForUpdate(trx, usageRows(trx, frontdoorId)).execute();
    const entries = rows.reduce((sum, row) => sum + row.entries, 0);
    const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
    if (entries <= maxEntries && bytes <= maxBytes) return 0;
    const isBytes = entries <= maxEntries;
    const [larger] = rows.toSorted((a, b) => (isBytes ? b.bytes - a.bytes : b.entries - a.entries));
    if (larger === undefined || larger.entries === 0) return 0;
    // Down to half of the limit at most, which each class may use.
    const surplus = isBytes
      ? Math.ceil(Math.min(bytes - maxBytes, larger.bytes - maxBytes / 2) / (larger.bytes / larger.entries))
      : Math.min(entries - maxEntries, Math.ceil(larger.entries - maxEntries / 2));
    return removeOldest(trx, frontdoorId, Math.min(surplus, REMOVED_AT_ONCE), {
      isServed: larger.is_served,
    });
  });
}

/** Removes at most 1,000 entries before this time, and returns their number. */
export function removeBefore(
  store: Pick<Store, 'transaction'>,
  frontdoorId: string,
  beforeMs: number,
): Promise<number> {
  return store.transaction(async (trx) => {
    await lockedForUpdate(trx, usageRows(trx, frontdoorId)).execute();
    const removed = await removeOldest(trx, frontdoorId, REMOVED_AT_ONCE, { beforeMs });
    if (removed === 0)
      await trx
        .deleteFrom('request_log_usage')
        .where('frontdoor_id', '=', frontdoorId)
        .where('entries', '=', 0)
        .execute();
    return removed;
  });
}

function usageRows(db: Queries, frontdoorId: string) {
  return db
    .selectFrom('request_log_usage')
    .select(['is_served', 'entries', 'bytes'])
    .where('frontdoor_id', '=', frontdoorId)
    .orderBy('is_served');
}

/** The usage is locked already, so that control planes remove entries one after the other. */
async function removeOldest(
  trx: Queries,
  frontdoorId: string,
  most: number,
  { isServed, beforeMs }: { readonly isServed?: number; readonly beforeMs?: number },
): Promise<number> {
  let oldest = trx.selectFrom('logged_request').select('id').where('frontdoor_id', '=', frontdoorId);
  if (isServed !== undefined) oldest = oldest.where('is_served', '=', isServed);
  if (beforeMs !== undefined) oldest = oldest.where('at', '<', beforeMs);
  const removed = await trx
    .deleteFrom('logged_request')
    .where('id', 'in', oldest.orderBy('at').orderBy('id').limit(most))
    .returning(['frontdoor_id', 'is_served', 'bytes'])
    .execute();
  await addToUsage(trx, removed, -1);
  return removed.length;
}

async function insertCounted(trx: Queries, rows: readonly Insertable<LoggedRequestTable>[]): Promise<void> {
  const inserted: CountedRow[] = [];
  for (let from = 0; from < rows.length; from += ROWS_A_STATEMENT) {
    const some = await trx
      .insertInto('logged_request')
      .values(rows.slice(from, from + ROWS_A_STATEMENT))
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning(['frontdoor_id', 'is_served', 'bytes'])
      .execute();
    inserted.push(...some);
  }
  await addToUsage(trx, inserted, 1);
}

type LoggedRequestTable = Database['logged_request'];

type CountedRow = Pick<LoggedRequestTable, 'frontdoor_id' | 'is_served' | 'bytes'>;

/** Adds rows to the usage, or subtracts them, in the order of its key, which prevents deadlocks. */
async function addToUsage(trx: Queries, rows: readonly CountedRow[], sign: 1 | -1): Promise<void> {
  const sums = new Map<string, { frontdoor_id: string; is_served: number; entries: number; bytes: number }>();
  for (const { frontdoor_id, is_served, bytes } of rows) {
    const key = `${frontdoor_id} ${is_served}`;
    const sum = sums.get(key) ?? { frontdoor_id, is_served, entries: 0, bytes: 0 };
    sum.entries += sign;
    sum.bytes += sign * bytes;
    sums.set(key, sum);
  }
  for (const [, sum] of [...sums].sort(([a], [b]) => (a < b ? -1 : 1))) {
    await trx
      .insertInto('request_log_usage')
      .values(sum)
      .onConflict((conflict) =>
        conflict.columns(['frontdoor_id', 'is_served']).doUpdateSet({
          entries: sql`request_log_usage.entries + excluded.entries`,
          bytes: sql`request_log_usage.bytes + excluded.bytes`,
        }),
      )
      .execute();
  }
}

function rowOf(
  record: LoggedRequest,
  { gatewayId, shareOf, nowMs }: ReportedRequests,
): Insertable<LoggedRequestTable> | undefined {
  const share = shareOf(record.shareId);
  if (share === undefined) return undefined;
  const { timings, identity, cause } = record;
  const texts = {
    method: stored(record.method),
    host: stored(record.host),
    path: stored(record.path),
    client: stored(record.client),
    identity: identity === null ? null : stored(identity),
    decision: stored(record.decision),
    cause: cause === null ? null : stored(cause),
  };
  return {
    id: record.id,
    frontdoor_id: share.frontdoorId,
    share_id: record.shareId,
    share_token: share.token,
    // A gateway clock that is ahead must not extend the retention.
    at: Math.min(record.at, nowMs),
    is_served: record.outcome === 'served' ? 1 : 0,
    outcome: stored(record.outcome),
    status: record.status,
    ...texts,
    provider_id: record.providerId,
    code: record.code,
    hop: record.hop,
    trace_id: record.traceId,
    gateway_id: gatewayId,
    bytes_in: record.bytesIn,
    bytes_out: record.bytesOut,
    decided_us: microseconds(timings.decidedMs),
    circuit_us: microseconds(timings.circuitMs),
    first_byte_us: microseconds(timings.firstByteMs),
    done_us: microseconds(timings.doneMs),
    left_out: record.leftOut,
    bytes: FIXED_BYTES + Object.values(texts).reduce((sum, text) => sum + (text?.length ?? 0), 0),
  };
}

function microseconds(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms * 1_000);
}

/** PostgreSQL stores no NUL, and only well-formed Unicode. */
function stored(text: string): string {
  return text.replaceAll('\u0000', '\uFFFD').toWellFormed();
}

/**
 * Returns at most `most` frontdoors with expired entries, the most overdue first, so that many with steady traffic keep none
 * waiting. All entries of a deleted frontdoor are expired.
 */
export async function dueRequestLogs(
  db: Queries,
  nowMs: number,
  most: number,
): Promise<readonly { readonly frontdoorId: string; readonly beforeMs: number }[]> {
  const { rows } = await sql<{ id: string; before_ms: number | string }>`
    select id, before_ms from (
      select usage.id,
        (select at from logged_request where frontdoor_id = usage.id order by at limit 1) as oldest,
        case when frontdoor.id is null or setting.enabled = 0 then ${EVER_MS}
          else ${nowMs} - 1000 * coalesce(setting.kept_seconds, ${DEFAULT_REQUEST_LOG.keptSeconds}) end as before_ms
      from (select distinct frontdoor_id as id from request_log_usage) as usage
      left join frontdoor on frontdoor.id = usage.id
      left join request_log_setting as setting on setting.frontdoor_id = usage.id
    ) as log
    where oldest < before_ms order by oldest - before_ms limit ${most}`.execute(db);
  return rows.map(({ id, before_ms }) => ({ frontdoorId: id, beforeMs: Number(before_ms) }));
}
