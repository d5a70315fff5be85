/** The entities of the edge management API, their terminators, and the log-ins of its administrators. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { key, owned, required, textType } from './migration-dialect.ts';

export const edgeTables: Migration = {
  async up(db: Kysely<unknown>) {
    const { schema } = db;
    const text = textType(db);
    await schema
      .createTable('edge_entity')
      .addColumn('id', text, key)
      .addColumn('kind', text, required)
      .addColumn('name', text, required)
      .addColumn('data', text, required)
      .addColumn('tags', text, required)
      .addColumn('created_at', 'bigint', required)
      .addColumn('updated_at', 'bigint', required)
      .addUniqueConstraint('edge_entity_name', ['kind', 'name'])
      .execute();
    await schema
      .createTable('edge_terminator')
      .addColumn('id', text, key)
      .addColumn('service_id', text, owned('edge_entity.id'))
      .addColumn('router_id', text, owned('identity.id'))
      .addColumn('identity_id', text, owned('identity.id'))
      .addColumn('binding', text, required)
      .addColumn('address', text, required)
      .addColumn('instance_id', text, required)
      .addColumn('cost', 'integer', required)
      .addColumn('precedence', 'integer', required)
      .addColumn('peer_data', text, required)
      .addColumn('created_at', 'bigint', required)
      .execute();
    for (const column of ['service_id', 'router_id', 'identity_id']) {
      await schema.createIndex(`edge_terminator_by_${column}`).on('edge_terminator').column(column).execute();
    }
    await schema
      .createTable('identity_password')
      .addColumn('identity_id', text, (column) =>
        column.primaryKey().notNull().references('identity.id').onDelete('cascade'),
      )
      .addColumn('username', text, (column) => column.notNull().unique())
      .addColumn('password_hash', text, required)
      .addColumn('created_at', 'bigint', required)
      .addColumn('updated_at', 'bigint', required)
      .execute();
    await schema
      .createTable('management_session')
      .addColumn('id', text, key)
      .addColumn('identity_id', text, owned('identity.id'))
      .addColumn('token_hmac', text, (column) => column.notNull().unique())
      .addColumn('created_at', 'bigint', required)
      .addColumn('expires_at', 'bigint', required)
      .execute();
    await schema
      .createIndex('management_session_by_identity')
      .on('management_session')
      .column('identity_id')
      .execute();
  },
};
