/** Every change of the schema, in order, by name. A released migration is never edited, and takes nothing from the version before (ADR 0105). */
import type { Migration } from 'kysely/migration';
import { firstSchema } from './first-schema-migration.ts';

export interface SchemaStep extends Migration {
  /** What it changes, for operators before an upgrade. */
  readonly effect: string;
}

export const migrations: Record<string, SchemaStep> = {
  '0001-first-schema': { ...firstSchema, effect: 'creates the schema of the first version' },
};
