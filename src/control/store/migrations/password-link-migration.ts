/** Links with which people who have forgotten the password set a new one. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { textType } from './migration-dialect.ts';

export const passwordLinks: Migration = {
  async up(db: Kysely<unknown>) {
    const { schema } = db;
    await schema.alterTable('person_password').addColumn('link_hmac', textType(db)).execute();
    await schema.alterTable('person_password').addColumn('link_expires_at', 'bigint').execute();
    await schema
      .createIndex('person_password_by_link')
      .on('person_password')
      .column('link_hmac')
      .unique()
      .execute();
  },
};
