/**
 * Pages of lists that are filtered or sorted by measurements, which are in no table. Row keys are read in
 * portions, their state is looked up in memory, and only the page's own rows are read completely.
 */
import type { Page, PageRequest } from './page.ts';

export interface MeasuredKey {
  readonly id: string;
  /** The sort value, if it is stored. */
  readonly value: unknown;
  /** Unique in the list. */
  readonly tie: string;
}

export interface MeasuredList<K extends MeasuredKey> {
  /** Returns the next keys in the order of `tie`. */
  readonly keysAfter: (tie: string, limit: number) => Promise<readonly K[]>;
  readonly statusOf: (key: K) => string;
  /** Undefined: any status. */
  readonly status: string | undefined;
}

const KEYS_A_STATEMENT = 2_000;

/** Returns the ids of the page in order, and the total. Measurements may change between two pages. */
export async function measuredIds<K extends MeasuredKey>(
  { keysAfter, statusOf, status }: MeasuredList<K>,
  { page, size, sort, direction }: PageRequest,
): Promise<Page<string>> {
  const found: { readonly id: string; readonly value: unknown; readonly tie: string }[] = [];
  for (let after = ''; ;) {
    const keys = await keysAfter(after, KEYS_A_STATEMENT);
    for (const key of keys) {
      const state = statusOf(key);
      if (status !== undefined && state !== status) continue;
      found.push({ id: key.id, value: sort === 'status' ? state : key.value, tie: key.tie });
    }
    const last = keys.at(-1);
    if (last === undefined || keys.length < KEYS_A_STATEMENT) break;
    after = last.tie;
  }
  const sign = direction === 'asc' ? 1 : -1;
  found.sort((a, b) => sign * (compared(a.value, b.value) || compared(a.tie, b.tie)));
  const ids = found.slice(page * size, (page + 1) * size).map(({ id }) => id);
  return { content: ids, total: found.length };
}

function compared(a: unknown, b: unknown): number {
  return (a as string) < (b as string) ? -1 : (a as string) > (b as string) ? 1 : 0;
}

/** Returns the rows in the order of their ids, without rows that were deleted in the meantime. */
export function inOrderOf<R extends { readonly id: string }>(
  ids: readonly string[],
  rows: readonly R[],
): R[] {
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}
