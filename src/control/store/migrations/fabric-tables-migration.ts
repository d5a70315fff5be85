/**
 * Fabric services and their terminators, and the address at which each replica accepts routers. A terminator is
 * deleted with its router or its service.
 */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { key, owned, required, textType } from './migration-dialect.ts';

export const fabricTables: Migration = {
  async up(db: Kysely<unknown>) {
    const { schema } = db;
    const text = textType(db);
    await schema
      .createTable('fabric_service')
      .addColumn('id', text, key)
      .addColumn('name', text, (column) => column.notNull().unique())
      .addColumn('terminator_strategy', text, required)
      .addColumn('created_at', 'bigint', required)
      .execute();
    await schema
      .createTable('fabric_terminator')
      .addColumn('id', text, key)
      .addColumn('service_id', text, owned('fabric_service.id'))
      .addColumn('router_id', text, owned('identity.id'))
      .addColumn('binding', text, required)
      .addColumn('address', text, required)
      .addColumn('instance_id', text, required)
      .addColumn('cost', 'integer', required)
      .addColumn('precedence', 'integer', required)
      .addColumn('peer_data', text, required)
      .addColumn('created_at', 'bigint', required)
      .execute();
    for (const column of ['service_id', 'router_id']) {
      await schema
        .createIndex(`fabric_terminator_by_${column}`)
        .on('fabric_terminator')
        .column(column)
        .execute();
    }
    await schema.alterTable('replica').addColumn('ctrl_address', text).execute();
  },
};
