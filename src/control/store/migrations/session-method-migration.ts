/** How a session was logged in, and the certificates that it got for channels to routers. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import { textType } from './migration-dialect.ts';

export const sessionMethod: Migration = {
  async up(db: Kysely<unknown>) {
    for (const [name, value] of [
      ['method', 'cert'],
      ['certificates', '[]'],
    ] as const)
      await db.schema
        .alterTable('api_session')
        .addColumn(name, textType(db), (column) => column.notNull().defaultTo(value))
        .execute();
  },
};
