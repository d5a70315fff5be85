/**
 * Custom frontends are served only after a proof (ADR 0061). Those that exist stay served and are asked for it. Several
 * organizations may claim a hostname at once, and at most one of them is served.
 */
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { isPostgres } from '../schema/database-kind.ts';
import { key, owned, required, textType } from './migration-dialect.ts';

export const hostnameProofs: Migration = {
  async up(db: Kysely<unknown>) {
    const { schema } = db;
    const text = textType(db);
    if (isPostgres(db))
      await schema.alterTable('custom_frontend').dropConstraint('custom_frontend_hostname_key').execute();
    else await withoutUniqueHostname(db);
    const add = schema.alterTable('custom_frontend');
    await add.addColumn('proof', text, (column) => column.notNull().defaultTo('ASKED')).execute();
    await add.addColumn('proof_name', text).execute();
    await add.addColumn('proof_ends_at', 'bigint').execute();
    await add.addColumn('proof_problem', text).execute();
    await add.addColumn('proof_due_at', 'bigint', (column) => column.notNull().defaultTo(0)).execute();
    await add.addColumn('proof_misses', 'integer', (column) => column.notNull().defaultTo(0)).execute();
    await sql`create unique index custom_frontend_served on custom_frontend (hostname) where proof <> 'PENDING'`.execute(
      db,
    );
    for (const column of ['hostname', 'proof_due_at', 'proof_name'])
      await schema.createIndex(`custom_frontend_by_${column}`).on('custom_frontend').column(column).execute();
  },
};

/** SQLite cannot drop a constraint, so both tables are made again; the second refers to the first. */
async function withoutUniqueHostname(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  const text = textType(db);
  await schema
    .createTable('custom_frontend_next')
    .addColumn('id', text, key)
    .addColumn('frontdoor_id', text, owned('frontdoor.id'))
    .addColumn('hostname', text, required)
    .addColumn('frontend_id', text, (column) => column.notNull().references('frontend.id'))
    .addColumn('status', text, required)
    .addColumn('certified_at', 'bigint')
    .addColumn('created_at', 'bigint', required)
    .execute();
  await schema
    .createTable('custom_frontend_auth_provider_next')
    .addColumn('custom_frontend_id', text, owned('custom_frontend_next.id'))
    .addColumn('auth_provider_id', text, (column) => column.notNull().references('auth_provider.id'))
    .addColumn('position', 'integer', required)
    .addPrimaryKeyConstraint('custom_frontend_auth_provider_key', ['custom_frontend_id', 'auth_provider_id'])
    .execute();
  const columns = 'id, frontdoor_id, hostname, frontend_id, status, certified_at, created_at';
  await sql`insert into custom_frontend_next (${sql.raw(columns)}) select ${sql.raw(columns)} from custom_frontend`.execute(
    db,
  );
  await sql`insert into custom_frontend_auth_provider_next (custom_frontend_id, auth_provider_id, position)
    select custom_frontend_id, auth_provider_id, position from custom_frontend_auth_provider`.execute(db);
  for (const table of ['custom_frontend_auth_provider', 'custom_frontend'] as const)
    await schema.dropTable(table).execute();
  for (const table of ['custom_frontend', 'custom_frontend_auth_provider'] as const)
    await schema.alterTable(`${table}_next`).renameTo(table).execute();
  await schema
    .createIndex('custom_frontend_by_frontdoor')
    .on('custom_frontend')
    .columns(['frontdoor_id', 'created_at', 'id'])
    .execute();
  await schema
    .createIndex('custom_frontend_auth_provider_by_provider')
    .on('custom_frontend_auth_provider')
    .column('auth_provider_id')
    .execute();
}
