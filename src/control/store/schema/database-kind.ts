/** The kind of database behind a connection, for the few places that need different SQL. */
import { PostgresAdapter, type Kysely } from 'kysely';

export function isPostgres(db: Pick<Kysely<unknown>, 'getExecutor'>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
