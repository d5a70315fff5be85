/** People of an organization, their passwords, invitations, and sessions at the console. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { key, owned, required, textType } from './migration-dialect.ts';

export const peopleTables: Migration = {
  async up(db: Kysely<unknown>) {
    const { schema } = db;
    const text = textType(db);
    await schema
      .createTable('person')
      .addColumn('id', text, key)
      .addColumn('organization_id', text, owned('organization.id'))
      .addColumn('name', text, required)
      .addColumn('email', text)
      .addColumn('role', text)
      .addColumn('created_at', 'bigint', required)
      .addColumn('last_seen_at', 'bigint')
      .execute();
    await schema
      .createTable('person_password')
      .addColumn('person_id', text, (column) => owned('person.id')(column).primaryKey())
      .addColumn('email', text, (column) => column.notNull().unique())
      .addColumn('password_hash', text, required)
      .addColumn('failed_attempts', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('locked_until', 'bigint')
      .addColumn('updated_at', 'bigint', required)
      .execute();
    await schema
      .createTable('invitation')
      .addColumn('id', text, key)
      .addColumn('organization_id', text, owned('organization.id'))
      .addColumn('name', text, required)
      .addColumn('email', text)
      .addColumn('role', text, required)
      .addColumn('code_hmac', text, (column) => column.notNull().unique())
      .addColumn('created_at', 'bigint', required)
      .addColumn('expires_at', 'bigint', required)
      .execute();
    await schema
      .createTable('console_session')
      .addColumn('id', text, key)
      .addColumn('token_hmac', text, (column) => column.notNull().unique())
      .addColumn('organization_id', text, owned('organization.id'))
      .addColumn('person_id', text, (column) => column.references('person.id').onDelete('cascade'))
      .addColumn('account_id', text, (column) => column.references('api_account.id').onDelete('cascade'))
      .addColumn('address', text, required)
      .addColumn('browser', text, required)
      .addColumn('created_at', 'bigint', required)
      .addColumn('proven_at', 'bigint', required)
      .addColumn('last_used_at', 'bigint', required)
      .addColumn('expires_at', 'bigint', required)
      .execute();
    for (const [table, column] of [
      ['person', 'organization_id'],
      ['invitation', 'organization_id'],
      ['console_session', 'organization_id'],
      ['console_session', 'person_id'],
      ['console_session', 'account_id'],
    ] as const)
      await schema.createIndex(`${table}_by_${column}`).on(table).column(column).execute();
  },
};
