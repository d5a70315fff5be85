/** The few places where the two databases need different words in a migration. */
import { sql, type Kysely, type RawBuilder } from 'kysely';
import { isPostgres } from './row-lock.ts';

/** Text that is compared byte by byte on both databases, so that lists have one order. */
export function textType(db: Kysely<unknown>): 'text' | RawBuilder<unknown> {
  return isPostgres(db) ? sql`text collate "C"` : 'text';
}
