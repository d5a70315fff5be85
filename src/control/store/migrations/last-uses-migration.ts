/** When callers were last used, and when and from where identities last called. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { textType } from './migration-dialect.ts';

export const lastUses: Migration = {
  async up(db: Kysely<unknown>) {
    for (const table of ['api_account', 'oauth_client'])
      await db.schema.alterTable(table).addColumn('last_used_at', 'bigint').execute();
    await db.schema.alterTable('identity').addColumn('last_seen_at', 'bigint').execute();
    await db.schema.alterTable('identity').addColumn('remote_address', textType(db)).execute();
  },
};
