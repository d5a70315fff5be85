/** Read-modify-write on both databases: PostgreSQL locks the rows that are read, the embedded one runs alone anyway. */
import { sql, type Kysely, type SelectQueryBuilder } from 'kysely';
import { isPostgres } from '../schema/database-kind.ts';
import type { Database } from '../schema/schema.ts';
import type { Queries } from './store.ts';

/** The rows of this query stay as they are until the transaction ends. */
export function lockedForUpdate<TB extends keyof Database, O>(
  trx: Queries,
  query: SelectQueryBuilder<Database, TB, O>,
): SelectQueryBuilder<Database, TB, O> {
  return isPostgres(trx) ? query.forUpdate() : query;
}

/** One transaction at a time, in all processes, goes on from here under this name; until it ends. */
export async function lockedByName(trx: Pick<Kysely<unknown>, 'getExecutor'>, name: string): Promise<void> {
  if (isPostgres(trx)) {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`frontdoor ${name}`}, 0))`.execute(trx);
  }
}
