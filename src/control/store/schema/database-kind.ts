/** Which of the two databases stands behind a connection, for the few places where they need different words. */
import { PostgresAdapter, type Kysely } from 'kysely';

export function isPostgres(db: Pick<Kysely<unknown>, 'getExecutor'>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
