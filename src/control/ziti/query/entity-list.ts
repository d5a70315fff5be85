/**
 * One page of a list, as the parameters `filter`, `sort`, `limit` and `offset` of a request ask for it. Clauses of
 * the filter (`sort by`, `skip`, `limit`) come before the parameters. A page has 10 entities by default and 500 at
 * most, also for a negative limit and `limit none`, which ask for everything.
 */
import { parseQuery, parseSort, type SortField } from './query-parser.ts';
import { QueryProblem, type QuerySymbols } from './query-symbol.ts';

export const DEFAULT_LIMIT = 10;
export const MAX_LIMIT = 500;

export interface ListParameters {
  readonly filter: string | null;
  readonly sort: string | null;
  readonly limit: string | null;
  readonly offset: string | null;
}

export interface EntityPage<T> {
  readonly found: readonly T[];
  readonly limit: number;
  readonly offset: number;
  /** The number of entities that match the filter. */
  readonly totalCount: number;
}

/** A parameter that is refused: its name and what is wrong with it. */
export type ListProblem =
  | { readonly parameter: 'filter' | 'sort'; readonly reason: string }
  | { readonly parameter: 'limit' | 'offset'; readonly reason: string; readonly value: string };

/** Without an order in the parameters, entities keep the order that they come in. */
export function pageOf<T>(
  entities: readonly T[],
  parameters: ListParameters,
  symbols: QuerySymbols<T>,
): { readonly page: EntityPage<T> } | { readonly problem: ListProblem } {
  const asked = { limit: wholeNumber(parameters.limit), offset: wholeNumber(parameters.offset) };
  for (const parameter of ['limit', 'offset'] as const) {
    if (asked[parameter] !== undefined) continue;
    const value = parameters[parameter]!;
    return {
      problem: { parameter, reason: `${parameter} in query must be of type int64: "${value}"`, value },
    };
  }
  const { filter } = parameters;
  const query = tried(() => parseQuery(filter === null || filter === '' ? 'true' : filter, symbols));
  if (query instanceof QueryProblem) return { problem: { parameter: 'filter', reason: query.message } };
  const { sort } = parameters;
  const order =
    query.sort.length > 0 || sort === null || sort === ''
      ? query.sort
      : tried(() => parseSort(sort, symbols));
  if (order instanceof QueryProblem) return { problem: { parameter: 'sort', reason: order.message } };
  const matching = tried(() => entities.filter((entity) => query.matches(entity)));
  if (matching instanceof QueryProblem) return { problem: { parameter: 'filter', reason: matching.message } };
  if (order.length > 0) matching.sort((left, right) => compared(left, right, order));
  const limit = bounded(query.limit ?? asked.limit!);
  const offset = Math.max(0, query.skip ?? asked.offset!);
  const found = matching.slice(offset, offset + limit);
  return { page: { found, limit, offset, totalCount: matching.length } };
}

/** Every entity that the filter selects, '' for all; its clauses (`sort by`, `skip`, `limit`) hold, and there is no page. */
export function selectedOf<T>(
  entities: readonly T[],
  filter: string,
  symbols: QuerySymbols<T>,
): { readonly found: readonly T[] } | { readonly problem: string } {
  const query = tried(() => parseQuery(filter === '' ? 'true' : filter, symbols));
  if (query instanceof QueryProblem) return { problem: query.message };
  const found = tried(() => entities.filter((entity) => query.matches(entity)));
  if (found instanceof QueryProblem) return { problem: found.message };
  found.sort((left, right) => compared(left, right, query.sort));
  const { skip = 0, limit } = query;
  const count = typeof limit === 'number' && limit >= 0 ? limit : found.length;
  return { found: found.slice(Math.max(0, skip), Math.max(0, skip) + count) };
}

function bounded(limit: number | 'none'): number {
  if (limit === 'none' || limit < 0) return MAX_LIMIT;
  return limit === 0 ? DEFAULT_LIMIT : Math.min(limit, MAX_LIMIT);
}

/** Returns 0 for an absent parameter, undefined for a text that is not a number. */
function wholeNumber(text: string | null): number | undefined {
  if (text === null || text === '') return 0;
  return /^-?\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function tried<R>(read: () => R): R | QueryProblem {
  try {
    return read();
  } catch (error) {
    if (error instanceof QueryProblem) return error;
    throw error;
  }
}

function compared<T>(left: T, right: T, order: readonly SortField<T>[]): number {
  for (const { read, isDescending } of order) {
    const [a, b] = [read(left), read(right)];
    if (a === b) continue;
    const isBefore = a === null || (b !== null && a < b);
    return isBefore !== isDescending ? -1 : 1;
  }
  return 0;
}
