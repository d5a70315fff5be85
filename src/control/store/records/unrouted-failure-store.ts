/**
 * Failures of requests to hosts that no share has. They belong to no frontdoor, so operators alone read them, by error
 * id; they have a table, and a bound, of their own, so that a flood of them removes nobody else's records.
 */
import type { RequestFailure } from '#domain';
import { FAILURE_KEPT_MS } from './request-record-store.ts';
import type { Queries, Store } from '../engine/store.ts';

/** Limit for the whole installation: the oldest are evicted. */
export const MAX_UNROUTED_FAILURES = 10_000;

const ROWS_A_STATEMENT = 100;

/** A failure, and the gateway that reported it, by the name that it had then. */
export interface UnroutedFailure extends RequestFailure {
  readonly gatewayId: string;
  readonly gatewayName: string;
}

/** Keeps the new ones of them. */
export async function putUnroutedFailures(store: Store, failures: readonly UnroutedFailure[]): Promise<void> {
  const rows = failures.map((failure) => ({
    id: failure.id,
    at: failure.at,
    data: JSON.stringify(failure),
  }));
  for (let from = 0; from < rows.length; from += ROWS_A_STATEMENT) {
    await store.db
      .insertInto('unrouted_failure')
      .values(rows.slice(from, from + ROWS_A_STATEMENT))
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute();
  }
}

export async function findUnroutedFailure(
  db: Queries,
  errorId: string,
): Promise<UnroutedFailure | undefined> {
  const row = await db
    .selectFrom('unrouted_failure')
    .select('data')
    .where('id', '=', errorId)
    .executeTakeFirst();
  return row === undefined ? undefined : (JSON.parse(row.data) as UnroutedFailure);
}

/** Those whose time is over: at most `most`; returns how many there were. */
export function deleteOldUnrouted(db: Queries, nowMs: number, most: number): Promise<number> {
  const old = db
    .selectFrom('unrouted_failure')
    .select('id')
    .where('at', '<', nowMs - FAILURE_KEPT_MS)
    .limit(most);
  return deleted(db.deleteFrom('unrouted_failure').where('id', 'in', old));
}

/** The oldest, beyond the bound: at most `most`; returns how many there were. */
export function deleteSurplusUnrouted(db: Queries, most: number): Promise<number> {
  const surplus = db
    .selectFrom('unrouted_failure')
    .select('id')
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .limit(most)
    .offset(MAX_UNROUTED_FAILURES);
  return deleted(db.deleteFrom('unrouted_failure').where('id', 'in', surplus));
}

async function deleted(query: {
  executeTakeFirst(): Promise<{ readonly numDeletedRows: bigint } | undefined>;
}): Promise<number> {
  return Number((await query.executeTakeFirst())?.numDeletedRows ?? 0);
}
