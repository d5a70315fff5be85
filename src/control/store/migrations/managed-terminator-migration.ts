/** Terminators that administrators make for services of the edge management API. Each goes with its service or router. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { key, owned, required, textType } from './migration-dialect.ts';

export const managedTerminators: Migration = {
  async up(db: Kysely<unknown>) {
    const { schema } = db;
    const text = textType(db);
    await schema
      .createTable('managed_terminator')
      .addColumn('id', text, key)
      .addColumn('service_id', text, owned('edge_entity.id'))
      .addColumn('router_id', text, owned('identity.id'))
      .addColumn('binding', text, required)
      .addColumn('address', text, required)
      .addColumn('instance_id', text, required)
      .addColumn('cost', 'integer', required)
      .addColumn('precedence', 'integer', required)
      .addColumn('tags', text, required)
      .addColumn('created_at', 'bigint', required)
      .addColumn('updated_at', 'bigint', required)
      .execute();
    for (const column of ['service_id', 'router_id']) {
      await schema
        .createIndex(`managed_terminator_by_${column}`)
        .on('managed_terminator')
        .column(column)
        .execute();
    }
  },
};
