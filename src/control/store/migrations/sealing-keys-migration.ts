/** The key in `secrets.key` can be replaced (ADR 0062): its state, and the control planes that have it. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { key, required, textType } from './migration-dialect.ts';

export const sealingKeys: Migration = {
  async up(db: Kysely<unknown>) {
    const { schema } = db;
    const text = textType(db);
    await schema
      .createTable('sealing_key')
      .addColumn('key_id', text, key)
      .addColumn('state', text, required)
      .addColumn('added_at', 'bigint', required)
      .addColumn('sealing_at', 'bigint')
      .addColumn('worked_until', 'bigint', required)
      .execute();
    await schema
      .createTable('sealing_member')
      .addColumn('id', text, key)
      .addColumn('name', text, required)
      .addColumn('key_ids', text, required)
      .addColumn('sealing_id', text, required)
      .addColumn('seen_at', 'bigint', required)
      .execute();
  },
};
