/** One-time passwords of people at the console as second factor, and organizations that demand one. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { owned, required, textType, type Column } from './migration-dialect.ts';

export const personTotp: Migration = {
  async up(db: Kysely<unknown>) {
    const { schema } = db;
    const text = textType(db);
    const none: Column = (column) => column.notNull().defaultTo(0);
    await schema
      .createTable('person_totp')
      .addColumn('person_id', text, (column) => owned('person.id')(column).primaryKey())
      .addColumn('secret_sealed', text)
      .addColumn('recovery_sealed', text, required)
      .addColumn('last_step', 'bigint', none)
      .addColumn('pending_sealed', text)
      .addColumn('pending_until', 'bigint')
      .addColumn('failed_attempts', 'integer', none)
      .addColumn('locked_until', 'bigint')
      .addColumn('enrolled_at', 'bigint')
      .addColumn('updated_at', 'bigint', required)
      .execute();
    for (const table of ['organization', 'console_session'])
      await schema.alterTable(table).addColumn('second_factor', 'integer', none).execute();
  },
};
