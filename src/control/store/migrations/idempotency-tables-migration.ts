/**
 * Responses that are kept for repeated creations, and their number per organization. Without references, because
 * a creation must not wait for a transaction that has locked the row of its organization.
 */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { key, required, textType } from './migration-dialect.ts';

const INDEXES = {
  idempotency_answer_by_age: ['organization_id', 'created_at'],
  idempotency_answer_by_end: ['expires_at'],
} as const;

export const idempotencyTables: Migration = {
  async up(db: Kysely<unknown>) {
    const { schema } = db;
    const text = textType(db);
    await schema
      .createTable('idempotency_answer')
      .addColumn('id', text, key)
      .addColumn('organization_id', text, required)
      .addColumn('request_hmac', text, required)
      .addColumn('answer_sealed', text, required)
      .addColumn('bytes', 'bigint', required)
      .addColumn('created_at', 'bigint', required)
      .addColumn('expires_at', 'bigint', required)
      .execute();
    for (const [name, columns] of Object.entries(INDEXES))
      await schema
        .createIndex(name)
        .on('idempotency_answer')
        .columns([...columns])
        .execute();
    await schema
      .createTable('idempotency_usage')
      .addColumn('organization_id', text, key)
      .addColumn('answers', 'bigint', required)
      .addColumn('bytes', 'bigint', required)
      .execute();
  },
};
