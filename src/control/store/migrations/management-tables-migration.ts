/**
 * Tables of the whole Management API: auth providers, counted lists, audit, metrics, and the data that replicas
 * over one database share. Triggers maintain the counts, so that cascades count too.
 */
import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { key, required, textType, type Column } from './migration-dialect.ts';
import { isPostgres } from '../schema/database-kind.ts';

const counter: Column = (column) => column.notNull().defaultTo(0);

export const managementTables: Migration = {
  async up(db: Kysely<unknown>) {
    await authProviders(db);
    await collections(db);
    await audit(db);
    await metrics(db);
    await replicas(db);
  },
};

async function authProviders(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  const text = textType(db);
  await schema
    .createTable('auth_provider')
    .addColumn('id', text, key)
    .addColumn('frontdoor_id', text, (column) =>
      column.notNull().references('frontdoor.id').onDelete('cascade'),
    )
    .addColumn('name', text, required)
    .addColumn('type', text, required)
    .addColumn('enabled', 'integer', required)
    .addColumn('data', text, required)
    .addColumn('secrets_sealed', text)
    .addColumn('version', 'bigint', required)
    .addColumn('created_at', 'bigint', required)
    .addColumn('updated_at', 'bigint', required)
    .execute();
  for (const column of ['name', 'type', 'enabled', 'created_at'] as const) {
    await schema
      .createIndex(`auth_provider_by_${column}`)
      .on('auth_provider')
      .columns(['frontdoor_id', column, 'id'])
      .execute();
  }
  await schema
    .createIndex('auth_provider_by_id')
    .on('auth_provider')
    .columns(['frontdoor_id', 'id'])
    .execute();
  await schema
    .createTable('auth_provider_key')
    .addColumn('auth_provider_id', text, (column) =>
      column.notNull().references('auth_provider.id').onDelete('cascade'),
    )
    .addColumn('name', text, required)
    .addColumn('key_hmac', text, required)
    .addColumn('last_used_at', 'bigint')
    .addColumn('created_at', 'bigint', required)
    .addPrimaryKeyConstraint('auth_provider_key_key', ['auth_provider_id', 'name'])
    .execute();
  // There were no providers before, so the table is empty and can be created again with a reference.
  await schema.dropTable('share_auth_provider').execute();
  await schema
    .createTable('share_auth_provider')
    .addColumn('share_id', text, (column) => column.notNull().references('share.id').onDelete('cascade'))
    .addColumn('auth_provider_id', text, (column) => column.notNull().references('auth_provider.id'))
    .addColumn('position', 'integer', required)
    .addPrimaryKeyConstraint('share_auth_provider_key', ['share_id', 'auth_provider_id'])
    .execute();
  await schema
    .createIndex('share_auth_provider_by_provider')
    .on('share_auth_provider')
    .column('auth_provider_id')
    .execute();
}

async function collections(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  const text = textType(db);
  await schema
    .createTable('collection')
    .addColumn('frontdoor_id', text, (column) =>
      column.notNull().references('frontdoor.id').onDelete('cascade'),
    )
    .addColumn('kind', text, required)
    .addColumn('total', 'bigint', required)
    .addColumn('version', 'bigint', required)
    .addPrimaryKeyConstraint('collection_key', ['frontdoor_id', 'kind'])
    .execute();
  await counted(db, { kind: 'share', table: 'share', ordered: ['name', 'token'] });
  await counted(db, {
    kind: 'environment',
    table: 'identity',
    ordered: ['name'],
    only: (row) => `${row}.kind = 'environment'`,
  });
  await counted(db, { kind: 'auth-provider', table: 'auth_provider', ordered: ['name', 'type', 'enabled'] });
  await schema
    .createIndex('share_by_age')
    .on('share')
    .columns(['frontdoor_id', 'created_at', 'token'])
    .execute();
  await sql`create index share_by_name on share (frontdoor_id, coalesce(name, ''), token)`.execute(db);
  await schema
    .createIndex('identity_by_age')
    .on('identity')
    .columns(['frontdoor_id', 'created_at', 'id'])
    .execute();
}

interface Counted {
  readonly kind: string;
  readonly table: string;
  /** Columns that lists are sorted by and that may change. */
  readonly ordered: readonly string[];
  /** The rows that count. */
  readonly only?: (row: string) => string;
}

async function counted(db: Kysely<unknown>, { kind, table, ordered, only }: Counted): Promise<void> {
  const added = `insert into collection (frontdoor_id, kind, total, version) values (new.frontdoor_id, '${kind}', 1, 1)
    on conflict (frontdoor_id, kind) do update set total = collection.total + 1, version = collection.version + 1`;
  const moved = (row: string, by: string): string =>
    `update collection set total = total ${by}, version = version + 1
    where frontdoor_id = ${row}.frontdoor_id and kind = '${kind}'`;
  const triggers = [
    { event: 'insert', row: 'new', body: added },
    { event: 'delete', row: 'old', body: moved('old', '- 1') },
    { event: `update of ${ordered.join(', ')}`, row: 'new', body: moved('new', '+ 0') },
  ];
  for (const { event, row, body } of triggers) {
    const name = `${table}_counted_on_${event.split(' ')[0]}`;
    const when = only === undefined ? '' : `when (${only(row)})`;
    if (isPostgres(db)) {
      await sql
        .raw(
          `create function ${name}() returns trigger language plpgsql as $$ begin ${body}; return null; end $$`,
        )
        .execute(db);
      await sql
        .raw(
          `create trigger ${name} after ${event} on ${table} for each row ${when} execute function ${name}()`,
        )
        .execute(db);
    } else {
      await sql
        .raw(`create trigger ${name} after ${event} on ${table} for each row ${when} begin ${body}; end`)
        .execute(db);
    }
  }
}

async function audit(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  const text = textType(db);
  await schema
    .createTable('audit_event')
    .addColumn('organization_id', text, required)
    .addColumn('sequence', 'bigint', required)
    .addColumn('id', text, (column) => column.notNull().unique())
    .addColumn('at', 'bigint', required)
    .addColumn('actor_kind', text, required)
    .addColumn('actor_id', text)
    .addColumn('action', text, required)
    .addColumn('target_kind', text)
    .addColumn('target_id', text)
    .addColumn('before', text)
    .addColumn('after', text)
    .addColumn('address', text)
    .addColumn('result', text, required)
    .addColumn('reason', text)
    .addColumn('occurrences', 'bigint', required)
    .addColumn('hash', text, required)
    .addPrimaryKeyConstraint('audit_event_key', ['organization_id', 'sequence'])
    .execute();
  for (const column of ['action', 'actor_id', 'target_id', 'result']) {
    await schema
      .createIndex(`audit_event_by_${column}`)
      .on('audit_event')
      .columns(['organization_id', column, 'sequence'])
      .execute();
  }
  await schema
    .createTable('audit_head')
    .addColumn('organization_id', text, key)
    .addColumn('sequence', 'bigint', required)
    .addColumn('hash', text, required)
    .execute();
}

async function metrics(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  const text = textType(db);
  await schema
    .createTable('metric_rollup')
    .addColumn('scope_id', text, required)
    .addColumn('resolution_ms', 'integer', required)
    .addColumn('starts_at', 'bigint', required)
    .addColumn('scope', text, required)
    .addColumn('requests', 'bigint', counter)
    .addColumn('errors', 'bigint', counter)
    .addColumn('bytes_in', 'bigint', counter)
    .addColumn('bytes_out', 'bigint', counter)
    .addColumn('latency', text, required)
    .addPrimaryKeyConstraint('metric_rollup_key', ['scope_id', 'resolution_ms', 'starts_at'])
    .execute();
  await schema
    .createIndex('metric_rollup_by_age')
    .on('metric_rollup')
    .columns(['resolution_ms', 'starts_at'])
    .execute();
  await schema
    .createTable('metric_source')
    .addColumn('id', text, key)
    .addColumn('last_batch', 'bigint', required)
    .addColumn('seen_at', 'bigint', required)
    .execute();
}

async function replicas(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  const text = textType(db);
  await schema
    .createTable('authority')
    .addColumn('name', text, key)
    .addColumn('certificate_pem', text, required)
    .addColumn('key_sealed', text, required)
    .addColumn('created_at', 'bigint', required)
    .execute();
  await schema
    .createTable('replica')
    .addColumn('id', text, key)
    .addColumn('api_url', text, required)
    .addColumn('started_at', 'bigint', required)
    .addColumn('seen_at', 'bigint', required)
    .execute();
  await schema
    .createTable('replica_status')
    .addColumn('replica_id', text, (column) => column.notNull().references('replica.id').onDelete('cascade'))
    .addColumn('kind', text, required)
    .addColumn('id', text, required)
    .addColumn('state', text, required)
    .addColumn('version', 'bigint', required)
    .addPrimaryKeyConstraint('replica_status_key', ['replica_id', 'kind', 'id'])
    .execute();
  await schema
    .createIndex('replica_status_by_version')
    .on('replica_status')
    .columns(['replica_id', 'version'])
    .execute();
}
