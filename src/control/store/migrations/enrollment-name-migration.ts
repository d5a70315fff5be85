/** Enrollments of agents with a name, by which people recognize them before an agent has enrolled. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { textType } from './migration-dialect.ts';

export const enrollmentName: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('enrollment').addColumn('name', textType(db)).execute();
  },
};
