/** Certificates of authorities of other parties, and the enrollments that take them. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { textType } from './migration-dialect.ts';

export const thirdPartyAuthorities: Migration = {
  async up(db: Kysely<unknown>) {
    for (const table of ['certificate', 'enrollment'])
      await db.schema.alterTable(table).addColumn('authority_id', textType(db)).execute();
    await db.schema
      .createIndex('certificate_by_authority')
      .on('certificate')
      .column('authority_id')
      .execute();
  },
};
