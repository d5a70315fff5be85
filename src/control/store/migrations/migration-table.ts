/** Every change of the schema, in order, by name. A released migration is never edited. */
import type { Migration } from 'kysely/migration';
import { firstSchema } from './first-schema-migration.ts';

export const migrations: Record<string, Migration> = {
  '0001-first-schema': firstSchema,
};
