/** Converts the checked query parameters of lists to values, and builds pages. */
import { sortParts } from '#contract';
import type { ListFilter, Page, PageRequest } from '../../store/mod.ts';

export type Query = Readonly<Record<string, string | string[] | undefined>>;

const DEFAULT_SIZE = 20;
const MAX_SIZE = 1_000;

/** A size above the maximum is treated as the maximum. */
export function parsePageRequest(query: Query): PageRequest {
  const { page, size } = query;
  return {
    page: page === undefined ? 0 : Number(page),
    size: size === undefined ? DEFAULT_SIZE : Math.min(Number(size), MAX_SIZE),
    ...sortOf(textOf(query, 'sort')),
  };
}

/** Returns the value of a parameter, or undefined if it was not sent. */
export function textOf(query: Query, name: string): string | undefined {
  return query[name] as string | undefined;
}

/** Returns the list's filter. */
export function listFilterOf(query: Query): ListFilter {
  return {
    name: textOf(query, 'name'),
    fromMs: timeOf(query, 'from'),
    toMs: timeOf(query, 'to'),
    environmentId: textOf(query, 'environmentId')?.toLowerCase(),
    providerId: textOf(query, 'providerId')?.toLowerCase(),
    policyId: textOf(query, 'policyId')?.toLowerCase(),
    status: textOf(query, 'status'),
    text: textOf(query, 'text'),
    statusClass: textOf(query, 'statusClass'),
    type: textOf(query, 'type'),
    isEnabled: textOf(query, 'enabled') === undefined ? undefined : textOf(query, 'enabled') === 'true',
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
