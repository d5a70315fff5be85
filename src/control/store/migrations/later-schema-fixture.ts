/**
 * Two versions of the schema for tests of upgrades: `older` lacks a table of the present schema and a column of another one;
 * `newer` adds both in a second migration.
 */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { migrations } from './migration-table.ts';

const [[FIRST, first]] = Object.entries<Migration>(migrations) as [[string, Migration]];

/** The name of the second migration. */
export const LATER = '0002-later';

const later: Migration = {
  async up({ schema }: Kysely<unknown>) {
    await schema
      .createTable('resting_name')
      .addColumn('name', 'text', (column) => column.primaryKey().notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('organization_id', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute();
    await schema
      .alterTable('organization')
      .addColumn('second_factor', 'integer', (column) => column.notNull().defaultTo(1))
      .execute();
  },
};

export const older: Readonly<Record<string, Migration>> = {
  [FIRST]: {
    async up(db: Kysely<unknown>) {
      await first.up(db);
      await db.schema.dropTable('resting_name').execute();
      await db.schema.alterTable('organization').dropColumn('second_factor').execute();
    },
  },
};

export const newer: Readonly<Record<string, Migration>> = { ...older, [LATER]: later };
