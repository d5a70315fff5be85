/**
 * Access to shares beyond their auth providers: policies, custom frontends, log-ins and their sessions; and
 * records of single requests. All rows are deleted with the share, provider or frontdoor that they belong to.
 */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { key, owned, required, textType, type Column } from './migration-dialect.ts';

export const accessTables: Migration = {
  async up(db: Kysely<unknown>) {
    await policies(db);
    await customFrontends(db);
    await logins(db);
    await requestRecords(db);
  },
};

const ownedKey =
  (target: string): Column =>
  (column) =>
    owned(target)(key(column));

async function policies(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  const text = textType(db);
  await schema
    .createTable('share_policy')
    .addColumn('share_id', text, ownedKey('share.id'))
    .addColumn('data', text, required)
    .addColumn('password_hashes', text, required)
    .addColumn('updated_at', 'bigint', required)
    .execute();
  await schema
    .createTable('share_inspection')
    .addColumn('share_id', text, ownedKey('share.id'))
    .addColumn('max_body_bytes', 'integer', required)
    .addColumn('until_at', 'bigint', required)
    .execute();
}

async function customFrontends(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  const text = textType(db);
  await schema
    .createTable('custom_frontend')
    .addColumn('id', text, key)
    .addColumn('frontdoor_id', text, owned('frontdoor.id'))
    .addColumn('hostname', text, (column) => column.notNull().unique())
    .addColumn('frontend_id', text, (column) => column.notNull().references('frontend.id'))
    .addColumn('status', text, required)
    .addColumn('certified_at', 'bigint')
    .addColumn('created_at', 'bigint', required)
    .execute();
  await schema
    .createIndex('custom_frontend_by_frontdoor')
    .on('custom_frontend')
    .columns(['frontdoor_id', 'created_at', 'id'])
    .execute();
  await schema
    .createTable('custom_frontend_auth_provider')
    .addColumn('custom_frontend_id', text, owned('custom_frontend.id'))
    .addColumn('auth_provider_id', text, (column) => column.notNull().references('auth_provider.id'))
    .addColumn('position', 'integer', required)
    .addPrimaryKeyConstraint('custom_frontend_auth_provider_key', ['custom_frontend_id', 'auth_provider_id'])
    .execute();
  await schema
    .createIndex('custom_frontend_auth_provider_by_provider')
    .on('custom_frontend_auth_provider')
    .column('auth_provider_id')
    .execute();
}

async function logins(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  const text = textType(db);
  await schema
    .createTable('login_attempt')
    .addColumn('state_hmac', text, key)
    .addColumn('share_id', text, owned('share.id'))
    .addColumn('auth_provider_id', text, owned('auth_provider.id'))
    .addColumn('provider_version', 'bigint', required)
    .addColumn('host', text, required)
    .addColumn('port', 'integer', required)
    .addColumn('browser', text, required)
    .addColumn('address', text, required)
    .addColumn('secrets_sealed', text, required)
    .addColumn('created_at', 'bigint', required)
    .addColumn('expires_at', 'bigint', required)
    .addColumn('returned_at', 'bigint')
    .addColumn('identity', text)
    .addColumn('code_hmac', text, (column) => column.unique())
    .addColumn('redeemed_at', 'bigint')
    .execute();
  await schema
    .createTable('login_session')
    .addColumn('id', text, key)
    .addColumn('token_hmac', text, (column) => column.notNull().unique())
    .addColumn('share_id', text, owned('share.id'))
    .addColumn('auth_provider_id', text, owned('auth_provider.id'))
    .addColumn('provider_version', 'bigint', required)
    .addColumn('host', text, required)
    .addColumn('subject', text, required)
    .addColumn('identity', text, required)
    .addColumn('created_at', 'bigint', required)
    .addColumn('last_used_at', 'bigint', required)
    .addColumn('expires_at', 'bigint', required)
    .execute();
  await schema
    .createIndex('login_session_by_subject')
    .on('login_session')
    .columns(['share_id', 'subject', 'created_at'])
    .execute();
  for (const table of ['login_attempt', 'login_session'] as const) {
    for (const column of ['share_id', 'auth_provider_id', 'expires_at']) {
      await schema.createIndex(`${table}_by_${column}`).on(table).column(column).execute();
    }
  }
}

async function requestRecords(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  const text = textType(db);
  for (const [table, owner] of [
    ['request_failure', 'frontdoor'],
    ['inspected_request', 'share'],
  ] as const) {
    await schema
      .createTable(table)
      .addColumn('id', text, key)
      .addColumn('frontdoor_id', text, owner === 'frontdoor' ? owned('frontdoor.id') : required)
      .addColumn('share_id', text, owner === 'share' ? owned('share.id') : required)
      .addColumn('at', 'bigint', required)
      .addColumn('data', text, required)
      .execute();
    await schema
      .createIndex(`${table}_by_${owner}`)
      .on(table)
      .columns([`${owner}_id`, 'at', 'id'])
      .execute();
    await schema.createIndex(`${table}_by_age`).on(table).column('at').execute();
  }
}
