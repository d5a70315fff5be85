/**
 * Read-modify-write on both databases: PostgreSQL locks the rows that are read; the embedded database runs one
 * transaction at a time anyway.
 */
import { sql, type Kysely, type SelectQueryBuilder } from 'kysely';
import { isPostgres } from '../schema/database-kind.ts';
import type { Database } from '../schema/schema.ts';
import type { Queries } from './store.ts';

/** Locks the rows of this query until the transaction ends. */
export function lockedForUpdate<TB extends keyof Database, O>(
  trx: Queries,
  query: SelectQueryBuilder<Database, TB, O>,
): SelectQueryBuilder<Database, TB, O> {
  return isPostgres(trx) ? query.forUpdate() : query;
}

/** Keeps others from changing the rows of this query until the transaction ends. They may lock them in the same way. */
export function lockedForShare<TB extends keyof Database, O>(
  trx: Queries,
  query: SelectQueryBuilder<Database, TB, O>,
): SelectQueryBuilder<Database, TB, O> {
  return isPostgres(trx) ? query.forShare() : query;
}

/** Only one transaction in all processes continues from here under this name, until it ends. */
export async function lockedByName(trx: Pick<Kysely<unknown>, 'getExecutor'>, name: string): Promise<void> {
  if (isPostgres(trx)) {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`frontdoor ${name}`}, 0))`.execute(trx);
  }
}
