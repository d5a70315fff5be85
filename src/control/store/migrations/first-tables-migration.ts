/**
 * The first tables. Types are those that the embedded database and PostgreSQL share: text, bigint, integer. Rows
 * are deleted with the frontdoor or identity that they belong to.
 */
import type { CreateTableBuilder, Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { key, owned, required, textType } from './migration-dialect.ts';

export const firstTables: Migration = {
  async up(db: Kysely<unknown>) {
    await accounts(db);
    await identities(db);
    await shares(db);
  },
};

function withTimes<T extends string>(table: CreateTableBuilder<T>): CreateTableBuilder<T> {
  return table.addColumn('created_at', 'bigint', required);
}

async function accounts(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  const text = textType(db);
  await withTimes(schema.createTable('organization'))
    .addColumn('id', text, key)
    .addColumn('name', text, required)
    .addColumn('token_exchange', 'integer', (column) => column.notNull().defaultTo(0))
    .execute();
  await withTimes(schema.createTable('frontdoor'))
    .addColumn('id', text, key)
    .addColumn('organization_id', text, owned('organization.id'))
    .addColumn('name', text, required)
    .execute();
  await schema
    .createIndex('frontdoor_by_organization')
    .on('frontdoor')
    .columns(['organization_id', 'created_at', 'id'])
    .execute();
  for (const [table, secret] of [
    ['api_account', 'token_hmac'],
    ['oauth_client', 'secret_hmac'],
  ] as const) {
    await withTimes(schema.createTable(table))
      .addColumn('id', text, key)
      .addColumn('organization_id', text, owned('organization.id'))
      .addColumn('name', text, required)
      .addColumn(secret, text, required)
      .addColumn('scopes', text, required)
      .addColumn('revoked_at', 'bigint')
      .execute();
    await schema.createIndex(`${table}_by_organization`).on(table).column('organization_id').execute();
  }
  await withTimes(schema.createTable('signing_key'))
    .addColumn('id', text, key)
    .addColumn('purpose', text, required)
    .addColumn('algorithm', text, required)
    .addColumn('activates_at', 'bigint', required)
    .addColumn('private_key_sealed', text, required)
    .addColumn('public_key', text, required)
    .addColumn('expires_at', 'bigint')
    .execute();
  await withTimes(schema.createTable('frontend'))
    .addColumn('id', text, key)
    .addColumn('public_name', text, (column) => column.notNull().unique())
    .addColumn('zone', text, (column) => column.notNull().unique())
    .addColumn('is_default', 'integer', required)
    .execute();
}

async function identities(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  const text = textType(db);
  await withTimes(schema.createTable('enrollment'))
    .addColumn('id', text, key)
    .addColumn('kind', text, required)
    .addColumn('frontdoor_id', text, (column) => column.references('frontdoor.id').onDelete('cascade'))
    .addColumn('identity_id', text, required)
    .addColumn('code_hmac', text, (column) => column.unique())
    .addColumn('expires_at', 'bigint', required)
    .addColumn('refused_csr_count', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('claimed_at', 'bigint')
    .execute();
  await schema.createIndex('enrollment_by_frontdoor').on('enrollment').column('frontdoor_id').execute();
  await schema.createIndex('enrollment_by_identity').on('enrollment').column('identity_id').execute();
  await schema.createIndex('enrollment_by_expiry').on('enrollment').column('expires_at').execute();
  await withTimes(schema.createTable('identity'))
    .addColumn('id', text, key)
    .addColumn('kind', text, required)
    .addColumn('frontdoor_id', text, (column) => column.references('frontdoor.id').onDelete('cascade'))
    .addColumn('name', text, required)
    .addColumn('agent_version', text)
    .execute();
  await schema
    .createIndex('identity_by_frontdoor')
    .on('identity')
    .columns(['frontdoor_id', 'name', 'id'])
    .execute();
  await schema.createIndex('identity_by_kind').on('identity').columns(['kind', 'name', 'id']).execute();
  await withTimes(schema.createTable('certificate'))
    .addColumn('fingerprint', text, key)
    .addColumn('identity_id', text, owned('identity.id'))
    .addColumn('spki_sha256', text, required)
    .addColumn('not_after', 'bigint', required)
    .execute();
  await schema.createIndex('certificate_by_identity').on('certificate').column('identity_id').execute();
  await withTimes(schema.createTable('api_session'))
    .addColumn('id', text, key)
    .addColumn('identity_id', text, owned('identity.id'))
    .addColumn('token_hmac', text, (column) => column.notNull().unique())
    .addColumn('token_sealed', text, required)
    .addColumn('fingerprint', text, required)
    .addColumn('config_types', text, required)
    .addColumn('expires_at', 'bigint', required)
    .execute();
  await schema.createIndex('api_session_by_identity').on('api_session').column('identity_id').execute();
}

async function shares(db: Kysely<unknown>): Promise<void> {
  const { schema } = db;
  const text = textType(db);
  await withTimes(schema.createTable('share'))
    .addColumn('id', text, key)
    .addColumn('frontdoor_id', text, owned('frontdoor.id'))
    .addColumn('environment_id', text, owned('identity.id'))
    .addColumn('token', text, required)
    .addColumn('name', text)
    .addColumn('share_mode', text, required)
    .addColumn('backend_mode', text, required)
    .addColumn('target', text, required)
    .addColumn('reserved', 'integer', required)
    .addColumn('target_by_agent', 'integer', required)
    .addColumn('epoch', 'bigint', required)
    .addColumn('updated_at', 'bigint', required)
    .addUniqueConstraint('share_token', ['frontdoor_id', 'token'])
    .execute();
  await schema.createIndex('share_by_environment').on('share').column('environment_id').execute();
  await schema
    .createTable('share_frontend')
    .addColumn('share_id', text, owned('share.id'))
    .addColumn('frontend_id', text, owned('frontend.id'))
    .addColumn('token', text, required)
    .addPrimaryKeyConstraint('share_frontend_key', ['share_id', 'frontend_id'])
    .addUniqueConstraint('share_frontend_token', ['frontend_id', 'token'])
    .execute();
  await schema
    .createTable('share_auth_provider')
    .addColumn('share_id', text, owned('share.id'))
    .addColumn('auth_provider_id', text, required)
    .addPrimaryKeyConstraint('share_auth_provider_key', ['share_id', 'auth_provider_id'])
    .execute();
  await schema
    .createTable('share_grant')
    .addColumn('share_id', text, owned('share.id'))
    .addColumn('environment_id', text, owned('identity.id'))
    .addPrimaryKeyConstraint('share_grant_key', ['share_id', 'environment_id'])
    .execute();
  await schema.createIndex('share_grant_by_environment').on('share_grant').column('environment_id').execute();
  await withTimes(schema.createTable('terminator'))
    .addColumn('id', text, key)
    .addColumn('share_id', text, owned('share.id'))
    .addColumn('router_id', text, owned('identity.id'))
    .addColumn('identity_id', text, owned('identity.id'))
    .addColumn('binding', text, required)
    .addColumn('address', text, required)
    .addColumn('instance_id', text, required)
    .addColumn('cost', 'integer', required)
    .addColumn('precedence', 'integer', required)
    .addColumn('peer_data', text, required)
    .execute();
  for (const column of ['share_id', 'router_id', 'identity_id']) {
    await schema.createIndex(`terminator_by_${column}`).on('terminator').column(column).execute();
  }
}
