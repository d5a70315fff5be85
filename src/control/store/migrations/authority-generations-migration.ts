/** Authorities have generations (ADR 0062): when each issues and ends, who issued a certificate, and who has which root. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { owned, required, textType } from './migration-dialect.ts';

export const authorityGenerations: Migration = {
  async up(db: Kysely<unknown>) {
    const { schema } = db;
    const text = textType(db);
    const authority = schema.alterTable('authority');
    await authority.addColumn('parent', text).execute();
    await authority.addColumn('issues_at', 'bigint', (column) => column.notNull().defaultTo(0)).execute();
    await authority.addColumn('ends_at', 'bigint').execute();
    await schema.alterTable('certificate').addColumn('issuer', text).execute();
    await schema.createIndex('certificate_by_issuer').on('certificate').column('issuer').execute();
    await schema
      .createTable('root_receipt')
      .addColumn('identity_id', text, (column) => owned('identity.id')(column).primaryKey())
      .addColumn('root', text, required)
      .addColumn('received_at', 'bigint', required)
      .execute();
  },
};
