/**
 * The signers of other parties whose tokens opened a session, the end of the certificate that did, and how an administrator
 * logged in.
 */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { textType } from './migration-dialect.ts';

export const sessionSigners: Migration = {
  async up(db: Kysely<unknown>) {
    for (const [table, column] of [
      ['api_session', 'signer_id'],
      ['api_session', 'second_signer_id'],
      ['management_session', 'method'],
    ] as const)
      await db.schema.alterTable(table).addColumn(column, textType(db)).execute();
    await db.schema.alterTable('api_session').addColumn('certificate_ends_at', 'bigint').execute();
  },
};
