/** Enrollments that set a password, for the user name that the administrator chose. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { textType } from './migration-dialect.ts';

export const enrollmentUsername: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('enrollment').addColumn('username', textType(db)).execute();
  },
};
