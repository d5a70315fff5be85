/** The addresses of each control plane's edge API, which clients of another one get. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { textType } from './migration-dialect.ts';

export const replicaAddresses: Migration = {
  async up(db: Kysely<unknown>) {
    for (const column of ['controller_id', 'edge_api_urls', 'edge_certificate'])
      await db.schema.alterTable('replica').addColumn(column, textType(db)).execute();
  },
};
