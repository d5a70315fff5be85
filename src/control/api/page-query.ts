/** The query parameters of lists, parsed; and pages as they are answered. */
import type { Page, PageRequest } from '../store/page.ts';
import { invalidValue } from './api-errors.ts';

export type Query = Readonly<Record<string, string | string[] | undefined>>;

const DEFAULT_SIZE = 20;
const MAX_SIZE = 1_000;
const MAX_PAGE = 1_000_000_000;

/** Throws `invalid`. A size above the maximum is the maximum. */
export function parsePageRequest(query: Query): PageRequest {
  const page = integerOf(query, 'page') ?? 0;
  const size = integerOf(query, 'size') ?? DEFAULT_SIZE;
  if (size === 0) throw invalidValue('size', 'integer');
  if (page > MAX_PAGE) throw invalidValue('page', 'integer');
  return { page, size: Math.min(size, MAX_SIZE), ...sortOf(query['sort']) };
}

function integerOf(query: Query, name: string): number | undefined {
  const value = query[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || !/^[0-9]{1,15}$/.test(value)) throw invalidValue(name, 'integer');
  return Number(value);
}

function sortOf(value: string | string[] | undefined): Pick<PageRequest, 'sort' | 'direction'> {
  if (value === undefined) return { sort: 'default', direction: 'asc' };
  if (typeof value !== 'string') throw invalidValue('sort', 'name or id');
  const [field, direction = 'asc', ...more] = value.split(',');
  if (field !== 'name' && field !== 'id') throw invalidValue('sort', 'name or id');
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
