/** Identity providers with which people log in at the console, and who they are there. */
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { key, owned, required, textType } from './migration-dialect.ts';

export const consoleLogIns: Migration = {
  async up(db: Kysely<unknown>) {
    const { schema } = db;
    const text = textType(db);
    await schema
      .createTable('console_log_in')
      .addColumn('id', text, key)
      .addColumn('organization_id', text, owned('organization.id'))
      .addColumn('auth_provider_id', text, (column) => owned('auth_provider.id')(column).unique())
      .addColumn('roles', text, required)
      .addColumn('created_at', 'bigint', required)
      .execute();
    await schema
      .createIndex('console_log_in_by_organization_id')
      .on('console_log_in')
      .column('organization_id')
      .execute();
    await schema
      .createTable('person_identity')
      .addColumn('auth_provider_id', text, owned('auth_provider.id'))
      .addColumn('subject', text, required)
      .addColumn('person_id', text, owned('person.id'))
      .addPrimaryKeyConstraint('person_identity_key', ['auth_provider_id', 'subject'])
      .execute();
    await schema
      .createIndex('person_identity_by_person_id')
      .on('person_identity')
      .column('person_id')
      .execute();
    await schema
      .alterTable('console_session')
      .addColumn('auth_provider_id', text, (column) =>
        column.references('auth_provider.id').onDelete('cascade'),
      )
      .execute();
    // People without a role, who are counted before another one is added.
    await sql`create index person_waiting on person (organization_id) where role is null`.execute(db);
  },
};
