/** Filters of lists: conditions on the rows of a query that is bound to its owner already. */
import { sql, type SelectQueryBuilder } from 'kysely';
import type { Database } from '../schema/schema.ts';

/** Entries must satisfy all of these. */
export interface ListFilter {
  /** Contained in the name; ASCII letters match in either case. */
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

/** Columns of the name and of the time, if they differ from `name` and `created_at`. */
interface Columns {
  readonly name?: string;
  readonly at?: string;
}

/** Adds the conditions on names and times to the query. */
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

/** Both databases lower-case only ASCII letters in columns that are compared byte by byte. */
function contains(column: string, text: string) {
  const lower = text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
  const pattern = `%${lower.replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`;
  return sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '\\'`;
}
