/** Ends of API sessions with signed tokens, which routers get while such tokens may be valid. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { key, required, textType } from './migration-dialect.ts';

export const sessionRevocations: Migration = {
  async up(db: Kysely<unknown>) {
    const { schema } = db;
    await schema
      .createTable('session_revocation')
      .addColumn('session_id', textType(db), key)
      .addColumn('ended_at', 'bigint', required)
      .execute();
    await schema
      .createIndex('session_revocation_by_end')
      .on('session_revocation')
      .column('ended_at')
      .execute();
  },
};
