/** Names that shares and custom frontends gave up, which rest for their organization. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { key, required, textType } from './migration-dialect.ts';

export const restingNames: Migration = {
  async up(db: Kysely<unknown>) {
    const { schema } = db;
    const text = textType(db);
    await schema
      .createTable('resting_name')
      .addColumn('name', text, key)
      .addColumn('kind', text, required)
      // Without a reference, because the names of a deleted organization rest as well.
      .addColumn('organization_id', text, required)
      .addColumn('created_at', 'bigint', required)
      .addColumn('expires_at', 'bigint', required)
      .execute();
    await schema.createIndex('resting_name_by_expiry').on('resting_name').column('expires_at').execute();
    await schema
      .createIndex('resting_name_by_organization')
      .on('resting_name')
      .columns(['organization_id', 'created_at'])
      .execute();
  },
};
