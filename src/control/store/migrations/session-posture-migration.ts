/** What the device of a session reported about itself, by which posture checks judge it. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { textType } from './migration-dialect.ts';

export const sessionPosture: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema.alterTable('api_session').addColumn('posture', textType(db)).execute();
  },
};
