/** When a backup was last finished, for every control plane over the database. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { key, required, textType } from './migration-dialect.ts';

export const lastBackup: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('last_backup')
      .addColumn('name', textType(db), key)
      .addColumn('finished_at', 'bigint', required)
      .execute();
  },
};
