/** What lists may be narrowed down to: conditions on the rows of a query that is bound to its owner already. */
import { sql, type SelectQueryBuilder } from 'kysely';
import type { Database } from '../schema/schema.ts';

/** Only entries of which all of this is true. */
export interface ListFilter {
  /** Contained in the name, A to Z and a to z alike. */
  readonly name?: string | undefined;
  /** Unix milliseconds, inclusive. */
  readonly fromMs?: number | undefined;
  /** Unix milliseconds, exclusive. */
  readonly toMs?: number | undefined;
  readonly environmentId?: string | undefined;
  readonly providerId?: string | undefined;
  readonly status?: string | undefined;
}

export function isFiltered(filter: ListFilter): boolean {
  return Object.values(filter).some((value) => value !== undefined);
}

/** Columns of the name and of the time, where they are not `name` and `created_at`. */
interface Columns {
  readonly name?: string;
  readonly at?: string;
}

/** The query with the conditions on names and times. */
export function narrowed<TB extends keyof Database, O>(
  query: SelectQueryBuilder<Database, TB, O>,
  { name, fromMs, toMs }: ListFilter,
  { name: nameColumn = 'name', at = 'created_at' }: Columns = {},
): SelectQueryBuilder<Database, TB, O> {
  let some = query;
  if (name !== undefined) some = some.where(contains(nameColumn, name));
  if (fromMs !== undefined) some = some.where(sql<boolean>`${sql.ref(at)} >= ${fromMs}`);
  if (toMs !== undefined) some = some.where(sql<boolean>`${sql.ref(at)} < ${toMs}`);
  return some;
}

/** Both databases know the lower case of ASCII letters alone, in columns that are compared byte by byte. */
function contains(column: string, text: string) {
  const lower = text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  const pattern = `%${lower.replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`;
  return sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;
}
