/** Common parts of migrations, and the few places where the two databases need different SQL in them. */
import { sql, type ColumnDefinitionBuilder, type Kysely, type RawBuilder } from 'kysely';
import { isPostgres } from '../schema/database-kind.ts';

/** Text that is compared byte by byte on both databases, so that lists have the same order. */
export function textType(db: Kysely<unknown>): 'text' | RawBuilder<unknown> {
  return isPostgres(db) ? sql`text collate "C"` : 'text';
}

export type Column = (column: ColumnDefinitionBuilder) => ColumnDefinitionBuilder;

export const required: Column = (column) => column.notNull();
export const key: Column = (column) => column.primaryKey().notNull();
/** A reference with cascading deletion. */
export const owned =
  (target: string): Column =>
  (column) =>
    column.notNull().references(target).onDelete('cascade');
