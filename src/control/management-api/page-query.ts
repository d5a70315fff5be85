/** The query parameters of lists, which were checked before, as values; and pages as they are answered. */
import { sortParts } from '#contract';
import type { ListFilter, Page, PageRequest } from '../store/mod.ts';

export type Query = Readonly<Record<string, string | string[] | undefined>>;

const DEFAULT_SIZE = 20;
const MAX_SIZE = 1_000;

/** A size above the maximum is the maximum. */
export function parsePageRequest(query: Query): PageRequest {
  const { page, size } = query;
  return {
    page: page === undefined ? 0 : Number(page),
    size: size === undefined ? DEFAULT_SIZE : Math.min(Number(size), MAX_SIZE),
    ...sortOf(textOf(query, 'sort')),
  };
}

/** The value of a parameter; undefined when it was not sent. */
export function textOf(query: Query, name: string): string | undefined {
  return query[name] as string | undefined;
}

/** What the list is narrowed down to. */
export function listFilterOf(query: Query): ListFilter {
  return {
    name: textOf(query, 'name'),
    fromMs: timeOf(query, 'from'),
    toMs: timeOf(query, 'to'),
    environmentId: textOf(query, 'environmentId')?.toLowerCase(),
    providerId: textOf(query, 'providerId')?.toLowerCase(),
    status: textOf(query, 'status'),
  };
}

function timeOf(query: Query, name: string): number | undefined {
  const text = textOf(query, name);
  return text === undefined ? undefined : Date.parse(text);
}

function sortOf(value: string | undefined): Pick<PageRequest, 'sort' | 'direction'> {
  if (value === undefined) return { sort: 'default', direction: 'asc' };
  const [field = '', direction] = sortParts(value);
  return { sort: field, direction: direction === 'desc' ? 'desc' : 'asc' };
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
