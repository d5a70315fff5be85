/** The secrets of API accounts and OAuth clients before a rotation, while they are still accepted. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { textType } from './migration-dialect.ts';

export const secretOverlap: Migration = {
  async up(db: Kysely<unknown>) {
    for (const table of ['api_account', 'oauth_client']) {
      await db.schema.alterTable(table).addColumn('previous_hmac', textType(db)).execute();
      await db.schema.alterTable(table).addColumn('previous_until', 'bigint').execute();
    }
  },
};
