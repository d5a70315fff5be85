/**
 * Failures of requests to hosts without a share. They belong to no frontdoor, so only operators read them, by
 * error id. They have their own table and limit, so that a flood of them removes no other records.
 */
import { jsonReader, Part, Type, type ShapeOf } from '#base/shapes';
import { requestFailureSchema } from '#domain/gateway-shapes';
import { readAlone } from '#net';
import { FAILURE_KEPT_MS } from './request-record-store.ts';
import type { Queries, Store } from '../../store/mod.ts';

/** Limit for the whole installation: the oldest are evicted. */
export const MAX_UNROUTED_FAILURES = 10_000;

const ROWS_A_STATEMENT = 100;

/** A failure with the gateway that reported it, and the gateway's name at that time. */
const unroutedFailureSchema = Type.Object({
  ...requestFailureSchema.properties,
  gatewayId: Part.text(),
  gatewayName: Part.text(),
});
export type UnroutedFailure = ShapeOf<typeof unroutedFailureSchema>;
const readUnroutedFailure = jsonReader(unroutedFailureSchema);

/** Stores the new ones. */
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

/** Returns undefined if there is none, or it is damaged. */
export async function findUnroutedFailure(
  db: Queries,
  errorId: string,
): Promise<UnroutedFailure | undefined> {
  const row = await db
    .selectFrom('unrouted_failure')
    .select('data')
    .where('id', '=', errorId)
    .executeTakeFirst();
  return row && readAlone(`the failure ${errorId} of the store`, () => readUnroutedFailure(row.data));
}

/** Deletes at most `most` expired ones and returns their number. */
export function deleteOldUnrouted(db: Queries, nowMs: number, most: number): Promise<number> {
  const old = db
    .selectFrom('unrouted_failure')
    .select('id')
    .where('at', '<', nowMs - FAILURE_KEPT_MS)
    .limit(most);
  return deleted(db.deleteFrom('unrouted_failure').where('id', 'in', old));
}

/** Deletes at most `most` of the oldest beyond the limit and returns their number. */
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
