/** Requests by class of status in the roll-ups of traffic. Earlier traffic counts in no class. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

export const statusClasses: Migration = {
  async up(db: Kysely<unknown>) {
    for (const each of ['2xx', '3xx', '4xx', '5xx'])
      await db.schema
        .alterTable('metric_rollup')
        .addColumn(`status_${each}`, 'bigint', (column) => column.notNull().defaultTo(0))
        .execute();
  },
};
