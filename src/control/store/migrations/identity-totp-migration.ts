/** One-time passwords of identities as second factor of their log-in. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { key, owned, required, textType } from './migration-dialect.ts';

export const identityTotp: Migration = {
  async up(db: Kysely<unknown>) {
    const text = textType(db);
    await db.schema
      .createTable('identity_totp')
      .addColumn('identity_id', text, (column) => owned('identity.id')(key(column)))
      .addColumn('id', text, required)
      .addColumn('secret_sealed', text, required)
      .addColumn('recovery_sealed', text, required)
      .addColumn('is_verified', 'integer', required)
      .addColumn('last_step', 'bigint', required)
      .addColumn('created_at', 'bigint', required)
      .addColumn('updated_at', 'bigint', required)
      .execute();
  },
};
