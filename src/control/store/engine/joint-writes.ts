/**
 * Several writes of one transaction in as few statements as the database allows: one on PostgreSQL, where they are
 * common table expressions; one each on the embedded database, which cannot write in these.
 */
import { sql, type OperationNodeSource } from 'kysely';
import { isPostgres } from '../schema/database-kind.ts';
import type { Queries } from './store.ts';

/** A query that inserts, updates or deletes, and the rows that it returns. */
export interface Write<O> extends OperationNodeSource {
  execute(): Promise<O[]>;
}

/**
 * Runs `first` and then `last`, and resolves with the rows that `last` returns. The result must not depend on whether
 * a write sees the effects of those before it: on PostgreSQL none does. So no row may be written by two of them.
 */
export async function writeJointly<O>(
  trx: Queries,
  first: readonly Write<unknown>[],
  last: Write<O>,
): Promise<readonly O[]> {
  if (first.length === 0) return last.execute();
  if (!isPostgres(trx)) {
    // Sent without waiting for each other; the database's thread runs them in this order.
    const before = first.map((write) => write.execute());
    const [rows] = await Promise.all([last.execute(), ...before]);
    return rows;
  }
  const parts = first.map((write, at) => sql`${sql.ref(`write_${at + 1}`)} as (${write})`);
  return (await sql<O>`with ${sql.join(parts)} ${last}`.execute(trx)).rows;
}
