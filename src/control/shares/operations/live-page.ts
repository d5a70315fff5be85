/** Pages of lists in memory, which show the current state of the mesh. It may change between two pages. */
import type { Page, PageRequest } from '../../store/mod.ts';
import { ok, unstored, type ApiParts } from './call.ts';
import { countedPageAnswer } from './page-query.ts';

/**
 * Returns the requested page, with `answer` of each item. `keys` are the sort keys besides `id`, which breaks
 * ties. Without sorting, items stay in their order.
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

/** Returns '' for a deleted router. */
export function routerNameOf({ model }: Pick<ApiParts, 'model'>, id: string): string {
  return model.identity(id)?.name ?? '';
}
