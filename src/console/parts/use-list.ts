/** A list of the API as the address of its page names it: the page, the order and the filters. It can be reloaded and sent on. */
import type { UseQueryResult } from '@tanstack/react-query';
import type { OperationId } from '#contract';
import type { AnsweredCall, CallInput, QueryValue } from '../api/call.ts';
import { useProgram } from '../api/program.tsx';
import { useAnswer } from '../api/queries.ts';
import type { PageFilter } from './filters.tsx';
import { useSearchState, type SearchControl } from './search-state.tsx';

const PAGE_SIZE = 25;

export interface ListPart<Row> {
  readonly content: readonly Row[];
  readonly pageable: { readonly pageNumber: number; readonly pageSize: number };
  readonly totalElements?: number;
  readonly totalPages?: number;
}

export type ListQuery = Readonly<Record<string, QueryValue>>;

export interface List<Body> {
  /** Names the list in files and in what this browser keeps: `auth-providers`. */
  readonly name: string;
  readonly answer: UseQueryResult<{ readonly body: Body }>;
  readonly control: SearchControl;
  readonly filters: readonly PageFilter[];
  /** What the address asks of the list, besides the page. */
  readonly query: ListQuery;
  /** Whether the address narrows the list. */
  readonly isFiltered: boolean;
  clear(): void;
  /** Another part of the same list. */
  read(page: number, size: number): Promise<Body>;
}

export interface ListOptions {
  /** The filters that the page shows. */
  readonly filters?: readonly PageFilter[];
  /** Further fields of the query that addresses of this page may have. */
  readonly linked?: readonly string[];
  /** Measured values that no event reports are asked for again so often. */
  readonly refetchMs?: number;
}

/** `input`: the parameters of the operation, and what its query always has. */
export function useList<Id extends OperationId>(
  id: Id,
  input: CallInput<Id>,
  { filters = [], linked = [], refetchMs }: ListOptions = {},
): List<AnsweredCall<Id>['body']> {
  const control = useSearchState();
  const { api } = useProgram();
  const names = [...filters.map(({ name }) => name), ...linked];
  const query = {
    ...input.query,
    ...Object.fromEntries(names.map((name) => [name, control.textOf(name).trim()])),
    sort: control.textOf('sort'),
  };
  const page = Number(control.search['page'] ?? 0);
  const answer = useAnswer(id, { ...input, query: { ...query, page, size: PAGE_SIZE } }, { refetchMs });
  return {
    name: nameOf(id),
    answer,
    control,
    filters,
    query,
    isFiltered: names.some((name) => control.textOf(name) !== ''),
    clear: () => control.change(Object.fromEntries(names.map((name) => [name, undefined]))),
    read: async (part, size) => {
      const { body } = await api.call(id, { ...input, query: { ...query, page: part, size } });
      return body;
    },
  };
}

/** `listAuthProviders` becomes `auth-providers`. */
function nameOf(id: OperationId): string {
  return id
    .replace(/^list/, '')
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-')
    .toLowerCase();
}
