/** Failures of requests to hosts without a share, for operators. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { key, required, textType } from './migration-dialect.ts';

export const unroutedFailures: Migration = {
  async up(db: Kysely<unknown>) {
    const { schema } = db;
    const text = textType(db);
    await schema
      .createTable('unrouted_failure')
      .addColumn('id', text, key)
      .addColumn('at', 'bigint', required)
      .addColumn('data', text, required)
      .execute();
    await schema
      .createIndex('unrouted_failure_by_age')
      .on('unrouted_failure')
      .columns(['at', 'id'])
      .execute();
  },
};
