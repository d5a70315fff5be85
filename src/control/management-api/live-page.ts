/** Pages of lists that live in memory: what the mesh does now. Between two pages it may have moved on. */
import type { Page, PageRequest } from '../store/mod.ts';
import { ok, unstored, type ApiParts } from './call.ts';
import { countedPageAnswer } from './page-query.ts';

/**
 * The page that is asked for, with `answer` of each of its items. `keys`: what the list can be sorted by beside `id`,
 * which breaks ties. Unsorted: as the items come.
 */
export function livePageAnswer<T extends { readonly id: string }, A>(
  items: readonly T[],
  request: PageRequest,
  keys: Readonly<Record<string, (item: T) => number>>,
  answer: (item: T) => A,
) {
  const page = livePage(items, request, keys);
  return unstored(ok(countedPageAnswer(request, page, page.content.map(answer))));
}

function livePage<T extends { readonly id: string }>(
  items: readonly T[],
  { page, size, sort, direction }: PageRequest,
  keys: Readonly<Record<string, (item: T) => number>>,
): Page<T> {
  const key = keys[sort] ?? (() => 0);
  const sign = direction === 'asc' ? 1 : -1;
  const byId = (a: T, b: T): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
  const sorted =
    sort === 'default' ? items : items.toSorted((a, b) => sign * (key(a) - key(b) || byId(a, b)));
  return { content: sorted.slice(page * size, (page + 1) * size), total: items.length };
}

/** '' for one that is gone. */
export function routerNameOf({ model }: Pick<ApiParts, 'model'>, id: string): string {
  return model.identity(id)?.name ?? '';
}
