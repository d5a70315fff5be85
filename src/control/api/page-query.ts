/** The query parameters of lists, parsed; and pages as they are answered. */
import type { Page, PageRequest } from '../store/page.ts';
import { invalidValue } from './api-errors.ts';

export type Query = Readonly<Record<string, string | string[] | undefined>>;

const DEFAULT_SIZE = 20;
const MAX_SIZE = 1_000;
const MAX_PAGE = 1_000_000_000;

const FIELDS: readonly string[] = ['name', 'id'];

/** Throws `invalid`. A size above the maximum is the maximum. `fields`: what the list can be sorted by. */
export function parsePageRequest(query: Query, fields: readonly string[] = FIELDS): PageRequest {
  const page = integerOf(query, 'page') ?? 0;
  const size = integerOf(query, 'size') ?? DEFAULT_SIZE;
  if (size === 0) throw invalidValue('size', 'integer');
  if (page > MAX_PAGE) throw invalidValue('page', 'integer');
  return { page, size: Math.min(size, MAX_SIZE), ...sortOf(query['sort'], fields) };
}

function integerOf(query: Query, name: string): number | undefined {
  const value = query[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !/^[0-9]+$/.test(value)) throw invalidValue(name, 'integer');
  return Number(value);
}

function sortOf(
  value: string | string[] | undefined,
  fields: readonly string[],
): Pick<PageRequest, 'sort' | 'direction'> {
  if (value === undefined) return { sort: 'default', direction: 'asc' };
  const known = fields.join(' or ');
  if (typeof value !== 'string') throw invalidValue('sort', known);
  const [field = '', direction = 'asc', ...more] = value.split(',');
  if (!fields.includes(field)) throw invalidValue('sort', known);
  if (more.length > 0 || (direction !== 'asc' && direction !== 'desc'))
    throw invalidValue('sort', 'asc or desc');
  return { sort: field, direction };
}

export function pageAnswer<T>(request: PageRequest, content: readonly T[]) {
  return { content, pageable: { pageNumber: request.page, pageSize: request.size } };
}

export function countedPageAnswer<T>(request: PageRequest, page: Page<unknown>, content: readonly T[]) {
  return {
    ...pageAnswer(request, content),
    totalElements: page.total,
    totalPages: Math.ceil(page.total / request.size),
  };
}
