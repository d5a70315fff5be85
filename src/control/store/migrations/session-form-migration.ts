/** API sessions whose clients have signed tokens (OpenID Connect). Those before were opaque. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { textType } from './migration-dialect.ts';

export const sessionForm: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('api_session')
      .addColumn('form', textType(db), (column) => column.notNull().defaultTo('opaque'))
      .execute();
  },
};
