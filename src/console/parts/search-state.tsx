/** The filters, the order and the page of a list stand in the address of its page, which can be reloaded and sent on. */
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

export type SearchState = Readonly<Record<string, string | number | undefined>>;

/** Keeps the named texts and, always, `page` (from 0) and `sort`. Anything else in an address is dropped. */
export function searchOf(
  ...names: readonly string[]
): (raw: Record<string, unknown>) => Record<string, string | number> {
  return (raw) => {
    const kept: Record<string, string | number> = {};
    for (const name of [...names, 'sort']) {
      const value = raw[name];
      if ((typeof value === 'string' && value !== '') || typeof value === 'number')
        kept[name] = String(value);
    }
    const page = Number(raw['page']);
    if (Number.isSafeInteger(page) && page > 0) kept['page'] = page;
    return kept;
  };
}

export interface SearchControl {
  readonly search: SearchState;
  /** The text of a name; '' if it is not in the address. */
  textOf(name: string): string;
  /** Changes some values; undefined or '' removes one. Other filters than the page begin at the first page again. */
  change(changes: SearchState, options?: { readonly replace?: boolean }): void;
}

export function useSearchState(): SearchControl {
  const search: SearchState = useSearch({ strict: false });
  const navigate = useNavigate();
  const change = useCallback(
    (changes: SearchState, { replace = false } = {}) => {
      const next = (before: SearchState) => {
        const merged = { ...before, ...('page' in changes ? {} : { page: undefined }), ...changes };
        return Object.fromEntries(
          Object.entries(merged).filter(
            ([name, value]) => value !== undefined && value !== '' && !(name === 'page' && value === 0),
          ),
        );
      };
      void navigate({ to: '.', search: next, replace, resetScroll: false });
    },
    [navigate],
  );
  return {
    search,
    textOf: (name) => String(search[name] ?? ''),
    change,
  };
}
