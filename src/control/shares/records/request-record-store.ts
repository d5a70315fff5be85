/**
 * Records of single requests: failures by error id, for a frontdoor; inspected requests, for a share. Gateways
 * report both, repeatedly if an acknowledgement was lost, and they expire after a while.
 */
import { sql } from 'kysely';
import { jsonReader } from '#base/shapes';
import {
  inspectedRequestSchema,
  requestFailureSchema,
  type InspectedRequest,
  type RequestFailure,
} from '#domain/gateway-shapes';
import { mapAlone } from '#net';
import type { GrantedFrontdoor } from './frontdoor-store.ts';
import {
  containsIn,
  isOfClass,
  jsonField,
  narrowed,
  type ListFilter,
  type Page,
  type PageRequest,
  type Queries,
  type Store,
} from '../../store/mod.ts';

export const MAX_FAILURES_PER_FRONTDOOR = 10_000;
export const FAILURE_KEPT_MS = 7 * 86_400_000;
/** Bounds the groups in case a gateway reports invented codes; the product has a few dozen. */
const MAX_GROUPS = 1_000;
export const MAX_INSPECTED_PER_SHARE = 200;
export const INSPECTED_KEPT_MS = 86_400_000;

const ROWS_A_STATEMENT = 100;
const ROWS_A_SWEEP = 1_000;
const STATEMENTS_A_SWEEP = 100;

type Table = 'request_failure' | 'inspected_request';

const readFailure = jsonReader(requestFailureSchema);
const readInspected = jsonReader(inspectedRequestSchema);

/** A failure as its owner sees it, with the share's current token; null if the share was deleted. */
export type StoredFailure = RequestFailure & { readonly shareToken: string | null };

export interface SentRecords<T> {
  readonly records: readonly T[];
  /** Returns the owner of a record from its share alone, whatever the gateway reported. */
  readonly frontdoorOf: (shareId: string) => string | undefined;
}

/** Stores new records. Records of deleted shares are dropped. */
export async function putFailures(
  store: Store,
  { records, frontdoorOf }: SentRecords<RequestFailure>,
): Promise<void> {
  for (const rows of slicesOf(rowsOf(records, frontdoorOf))) {
    await store.db
      .insertInto('request_failure')
      .values(rows.map(({ row, record: { code, hop } }) => ({ ...row, code, hop })))
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
  }
}

/** The same for inspections. A share's oldest ones are evicted. */
export async function putInspected(
  store: Store,
  { records, frontdoorOf }: SentRecords<InspectedRequest>,
): Promise<void> {
  for (const rows of slicesOf(rowsOf(records, frontdoorOf))) {
    await store.db
      .insertInto('inspected_request')
      .values(rows.map(({ row }) => row))
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
  }
  for (const shareId of new Set(records.map((record) => record.shareId))) {
    const surplus = store.db
      .selectFrom('inspected_request')
      .select('id')
      .where('share_id', '=', shareId)
      .orderBy('at', 'desc')
      .orderBy('id', 'desc')
      .limit(ROWS_A_SWEEP)
      .offset(MAX_INSPECTED_PER_SHARE);
    const ids = (await surplus.execute()).map(({ id }) => id);
    if (ids.length > 0) await store.db.deleteFrom('inspected_request').where('id', 'in', ids).execute();
  }
}

function rowsOf<T extends RequestFailure | InspectedRequest>(
  records: readonly T[],
  frontdoorOf: (shareId: string) => string | undefined,
) {
  return records.flatMap((record) => {
    const frontdoorId = frontdoorOf(record.shareId);
    if (frontdoorId === undefined) return [];
    const { id, shareId, at } = record;
    const data = JSON.stringify({ ...record, frontdoorId });
    return [{ record, row: { id, frontdoor_id: frontdoorId, share_id: shareId, at, data } }];
  });
}

function* slicesOf<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < rows.length; from += ROWS_A_STATEMENT)
    yield rows.slice(from, from + ROWS_A_STATEMENT);
}

export async function findFailure(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  errorId: string,
): Promise<StoredFailure | undefined> {
  const row = await failuresOf(db, frontdoor).where('request_failure.id', '=', errorId).executeTakeFirst();
  return row && storedFailures([row])[0];
}

/** Which failures: of one share, and with this code at this hop. */
export interface FailureFilter extends ListFilter {
  readonly shareToken?: string | undefined;
  readonly code?: string | undefined;
  readonly hop?: string | undefined;
}

/** The failure in whichever frontdoor of the organization it is. */
export async function findFailureOfOrganization(
  db: Queries,
  organizationId: string,
  errorId: string,
): Promise<StoredFailure | undefined> {
  const row = await storedFailureRows(db)
    .innerJoin('frontdoor', 'frontdoor.id', 'request_failure.frontdoor_id')
    .where('frontdoor.organization_id', '=', organizationId)
    .where('request_failure.id', '=', errorId)
    .executeTakeFirst();
  return row && storedFailures([row])[0];
}

export async function listFailures(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  request: PageRequest,
  filter: FailureFilter,
): Promise<Page<StoredFailure>> {
  const query = narrowedFailures(db, frontdoor, filter);
  const { total } = await query
    .clearSelect()
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  const rows = await query
    .orderBy('request_failure.at', byAge(request))
    .orderBy('request_failure.id', byAge(request))
    .limit(request.size)
    .offset(request.page * request.size)
    .execute();
  return { content: storedFailures(rows), total: Number(total) };
}

/** Failures with the same code at the same hop. */
export interface FailureGroup {
  readonly count: number;
  /** Shares with such failures, those that were deleted included. */
  readonly shares: number;
  readonly firstAt: number;
  readonly lastAt: number;
  readonly latest: StoredFailure;
}

/** Those with the most failures first. The failures of a frontdoor are bounded, and so are their groups. */
export async function groupFailures(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  request: PageRequest,
  filter: FailureFilter,
): Promise<Page<FailureGroup>> {
  const found = narrowedFailures(db, frontdoor, filter).clearSelect();
  const groups = await found
    .select(['request_failure.code', 'request_failure.hop'])
    .select([
      sql<number>`count(*)`.as('total'),
      sql<number>`count(distinct request_failure.share_id)`.as('shares'),
      sql<number>`min(request_failure.at)`.as('first'),
      sql<number>`max(request_failure.at)`.as('last'),
    ])
    .groupBy(['request_failure.code', 'request_failure.hop'])
    .orderBy(sql`3`, 'desc')
    .orderBy(sql`6`, 'desc')
    .orderBy(['request_failure.code', 'request_failure.hop'])
    .limit(MAX_GROUPS)
    .execute();
  const shown = groups.slice(request.page * request.size, (request.page + 1) * request.size);
  const content: FailureGroup[] = [];
  for (const { code, hop, total, shares, first, last } of shown) {
    const rows = await narrowedFailures(db, frontdoor, { ...filter, code, hop })
      .where('request_failure.at', '=', Number(last))
      .orderBy('request_failure.id', 'desc')
      .limit(1)
      .execute();
    // A record that is damaged, or was removed in the meantime, has no cause to show.
    const [latest] = storedFailures(rows);
    if (latest === undefined) continue;
    const [firstAt, lastAt] = [Number(first), Number(last)];
    content.push({ count: Number(total), shares: Number(shares), firstAt, lastAt, latest });
  }
  return { content, total: groups.length };
}

function narrowedFailures(db: Queries, frontdoor: GrantedFrontdoor, filter: FailureFilter) {
  const { text, statusClass, environmentId, providerId, shareToken, code, hop } = filter;
  const field = (name: string) => jsonField(db, 'request_failure.data', name);
  let query = narrowed(failuresOf(db, frontdoor), filter, { at: 'request_failure.at' });
  if (shareToken !== undefined) query = query.where('share.token', '=', shareToken);
  if (code !== undefined) query = query.where('request_failure.code', '=', code);
  if (hop !== undefined) query = query.where('request_failure.hop', '=', hop);
  if (environmentId !== undefined) query = query.where('share.environment_id', '=', environmentId);
  if (providerId !== undefined)
    query = query.where(sql<boolean>`request_failure.share_id in (select share_id from share_auth_provider
      where auth_provider_id = ${providerId})`);
  if (statusClass !== undefined) query = query.where(isOfClass(field('status'), statusClass));
  if (text !== undefined) query = query.where(containsIn(['host', 'path', 'cause', 'code'].map(field), text));
  return query;
}

function failuresOf(db: Queries, frontdoor: GrantedFrontdoor) {
  return storedFailureRows(db).where('request_failure.frontdoor_id', '=', frontdoor.id);
}

function storedFailureRows(db: Queries) {
  return db
    .selectFrom('request_failure')
    .leftJoin('share', 'share.id', 'request_failure.share_id')
    .select(['request_failure.id', 'request_failure.data', 'share.token']);
}

interface FailureRow {
  readonly id: string;
  readonly data: string;
  readonly token: string | null;
}

/** A record that is damaged is left out, as in `inspectedOf`. */
function storedFailures(rows: readonly FailureRow[]): StoredFailure[] {
  const read = ({ data, token }: FailureRow): StoredFailure => ({ ...readFailure(data), shareToken: token });
  return mapAlone(rows, ({ id }) => `the failure ${id} of the store`, read);
}

function inspectedOf(rows: readonly Omit<FailureRow, 'token'>[]): InspectedRequest[] {
  return mapAlone(
    rows,
    ({ id }) => `the inspected request ${id} of the store`,
    ({ data }) => readInspected(data),
  );
}

/** The newest first, unless the request sorts them. */
function byAge({ sort, direction }: PageRequest): 'asc' | 'desc' {
  return sort === 'default' ? 'desc' : direction;
}

export async function listInspected(
  db: Queries,
  shareId: string,
  request: PageRequest,
  filter: ListFilter,
): Promise<Page<InspectedRequest>> {
  const { text, statusClass } = filter;
  const field = (name: string) => jsonField(db, 'data', name);
  const recorded = db.selectFrom('inspected_request').where('share_id', '=', shareId);
  let query = narrowed(recorded, filter, { at: 'at' });
  if (statusClass !== undefined) query = query.where(isOfClass(field('status'), statusClass));
  if (text !== undefined) query = query.where(containsIn(['host', 'target', 'method'].map(field), text));
  const { total } = await query.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  const rows = await query
    .select(['id', 'data'])
    .orderBy('at', byAge(request))
    .orderBy('id', byAge(request))
    .limit(request.size)
    .offset(request.page * request.size)
    .execute();
  return { content: inspectedOf(rows), total: Number(total) };
}

export async function findInspected(
  db: Queries,
  shareId: string,
  id: string,
): Promise<InspectedRequest | undefined> {
  const row = await db
    .selectFrom('inspected_request')
    .select(['id', 'data'])
    .where('share_id', '=', shareId)
    .where('id', '=', id)
    .executeTakeFirst();
  return row && inspectedOf([row])[0];
}

/** Returns the number of deleted records. */
export async function deleteInspected(trx: Queries, shareId: string): Promise<number> {
  const gone = await trx.deleteFrom('inspected_request').where('share_id', '=', shareId).executeTakeFirst();
  return Number(gone.numDeletedRows);
}

/** Removes expired records and those beyond a frontdoor's limit, in short statements. */
export async function sweepRequestRecords(db: Queries, nowMs: number): Promise<void> {
  await removeOlder(db, 'request_failure', nowMs - FAILURE_KEPT_MS);
  await removeOlder(db, 'inspected_request', nowMs - INSPECTED_KEPT_MS);
  await db
    .deleteFrom('share_inspection')
    .where('until_at', '<', nowMs - INSPECTED_KEPT_MS)
    .execute();
  const full = await db
    .selectFrom('request_failure')
    .select(['frontdoor_id', sql<number>`count(*)`.as('total')])
    .groupBy('frontdoor_id')
    .having(sql`count(*)`, '>', MAX_FAILURES_PER_FRONTDOOR)
    .execute();
  for (const { frontdoor_id: frontdoorId, total } of full)
    await removeOldest(db, frontdoorId, Number(total) - MAX_FAILURES_PER_FRONTDOOR);
}

async function removeOlder(db: Queries, table: Table, beforeMs: number): Promise<void> {
  for (let statement = 0; statement < STATEMENTS_A_SWEEP; statement += 1) {
    const rows = await db
      .selectFrom(table)
      .select('id')
      .where('at', '<', beforeMs)
      .limit(ROWS_A_SWEEP)
      .execute();
    if (rows.length === 0) return;
    await remove(db, table, rows);
  }
}

async function removeOldest(db: Queries, frontdoorId: string, count: number): Promise<void> {
  for (let left = count; left > 0; left -= ROWS_A_SWEEP) {
    const rows = await db
      .selectFrom('request_failure')
      .select('id')
      .where('frontdoor_id', '=', frontdoorId)
      .orderBy('at')
      .orderBy('id')
      .limit(Math.min(left, ROWS_A_SWEEP))
      .execute();
    if (rows.length === 0) return;
    await remove(db, 'request_failure', rows);
  }
}

async function remove(db: Queries, table: Table, rows: readonly { readonly id: string }[]): Promise<void> {
  const ids = rows.map(({ id }) => id);
  await db.deleteFrom(table).where('id', 'in', ids).execute();
}
