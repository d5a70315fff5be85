/** Wrong passwords of an identity in a row, and until when its password is locked. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const passwordAttempts: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('identity_password')
      .addColumn('failed_attempts', 'integer', (column) => column.notNull().defaultTo(0))
      .execute();
    await db.schema.alterTable('identity_password').addColumn('locked_until', 'bigint').execute();
  },
};
