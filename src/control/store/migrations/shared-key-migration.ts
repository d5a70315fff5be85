/**
 * The key and the certificates of the edge API, which all control planes over the database use: the key signs enrollment
 * tokens, and clients prove a token and a server by each other.
 */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { key, required, textType } from './migration-dialect.ts';

export const sharedKeys: Migration = {
  async up(db: Kysely<unknown>) {
    const text = textType(db);
    await db.schema
      .createTable('shared_key')
      .addColumn('name', text, key)
      .addColumn('key_sealed', text, required)
      .addColumn('created_at', 'bigint', required)
      .execute();
    await db.schema
      .createTable('shared_leaf')
      .addColumn('host', text, key)
      .addColumn('certificate_pem', text, required)
      .addColumn('created_at', 'bigint', required)
      .execute();
  },
};
