/** What the client of an identity last reported about itself. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { key, owned, required, textType } from './migration-dialect.ts';

export const identityClients: Migration = {
  async up(db: Kysely<unknown>) {
    const text = textType(db);
    await db.schema
      .createTable('identity_client')
      .addColumn('identity_id', text, (column) => owned('identity.id')(key(column)))
      .addColumn('env_info', text, required)
      .addColumn('sdk_info', text, required)
      .execute();
  },
};
