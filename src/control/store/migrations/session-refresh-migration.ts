/** The refresh token that a session has now, the one before it, and when that was used. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { textType } from './migration-dialect.ts';

export const sessionRefreshes: Migration = {
  async up(db: Kysely<unknown>) {
    for (const column of ['refresh_id', 'refresh_before_id'])
      await db.schema.alterTable('api_session').addColumn(column, textType(db)).execute();
    await db.schema.alterTable('api_session').addColumn('refreshed_at', 'bigint').execute();
  },
};
