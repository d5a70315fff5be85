/**
 * Lists of shares that are filtered by a text read an index instead of all rows. The embedded database reads the name in
 * lower case from it, too. PostgreSQL computes it and reads the rows, which costs it less.
 */
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { isPostgres } from '../schema/database-kind.ts';

export const shareText: Migration = {
  async up(db: Kysely<unknown>) {
    if (isPostgres(db)) return;
    await sql`create index share_by_text
      on share (frontdoor_id, created_at, token, lower(name), environment_id, id)`.execute(db);
    // The new index begins with the same columns.
    await db.schema.dropIndex('share_by_age').execute();
  },
};
