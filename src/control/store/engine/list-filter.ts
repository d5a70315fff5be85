/** Filters of lists: conditions on the rows of a query that is bound to its owner already. */
import { sql, type RawBuilder, type SelectQueryBuilder } from 'kysely';
import { isPostgres } from '../schema/database-kind.ts';
import type { Database } from '../schema/schema.ts';
import type { Queries } from './store.ts';

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
  readonly policyId?: string | undefined;
  readonly status?: string | undefined;
  /** Contained in one of the fields that the list searches; ASCII letters match in either case. */
  readonly text?: string | undefined;
  readonly statusClass?: string | undefined;
  readonly type?: string | undefined;
  readonly isEnabled?: boolean | undefined;
}

export function isFiltered(filter: ListFilter): boolean {
  return Object.values(filter).some((value) => value !== undefined);
}

/** Columns of the name and of the time, if they differ from `name` and `created_at`. */
interface Columns {
  readonly name?: string;
  /** The stored names have no capital letters. */
  readonly isLowerCase?: boolean;
  readonly at?: string;
}

/** Adds the conditions on names and times to the query. */
export function narrowed<TB extends keyof Database, O>(
  query: SelectQueryBuilder<Database, TB, O>,
  { name, fromMs, toMs }: ListFilter,
  { name: nameColumn = 'name', isLowerCase = false, at = 'created_at' }: Columns = {},
): SelectQueryBuilder<Database, TB, O> {
  let some = query;
  if (name !== undefined) {
    const column = sql.ref(nameColumn);
    some = some.where(isLike(isLowerCase ? column : sql`lower(${column})`, name));
  }
  if (fromMs !== undefined) some = some.where(sql<boolean>`${sql.ref(at)} >= ${fromMs}`);
  if (toMs !== undefined) some = some.where(sql<boolean>`${sql.ref(at)} < ${toMs}`);
  return some;
}

/** Returns the condition that one of the expressions contains the text. */
export function containsIn(expressions: readonly RawBuilder<unknown>[], text: string): RawBuilder<boolean> {
  const each = expressions.map((one) => isLike(sql`lower(${one})`, text));
  return sql<boolean>`(${sql.join(each, sql` or `)})`;
}

/**
 * Returns a field of a column with a JSON object, as text. A value that was cut off has none, so that one damaged row does not
 * fail a search. PostgreSQL cannot check JSON before version 16.
 */
export function jsonField(db: Queries, column: string, field: string): RawBuilder<unknown> {
  const json = sql.ref(column);
  return isPostgres(db)
    ? sql`(case when ${json} like '{%}' then ${json}::json ->> ${sql.lit(field)} end)`
    : sql`(case when json_valid(${json}) then json_extract(${json}, ${sql.lit(`$.${field}`)}) end)`;
}

/** Returns the condition that a numeric expression is a status of the class; 0 stands for no response. */
export function isOfClass(status: RawBuilder<unknown>, statusClass: string): RawBuilder<boolean> {
  const number = sql`cast(${status} as integer)`;
  if (statusClass === 'none') return sql<boolean>`${number} = 0`;
  const first = Number(statusClass[0]) * 100;
  return sql<boolean>`${number} >= ${first} and ${number} < ${first + 100}`;
}

function isLike(lower: RawBuilder<unknown>, text: string): RawBuilder<boolean> {
  return sql<boolean>`${lower} like ${patternOf(text)} escape '\\'`;
}

/** Both databases lower-case only ASCII letters in columns that are compared byte by byte. */
export function lowered(text: string): string {
  return text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function patternOf(text: string): string {
  return `%${lowered(text).replaceAll(/[\\%_]/g, (character) => `\\${character}`)}%`;
}
