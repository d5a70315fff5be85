/**
 * Pages of a long list that is filtered or sorted by a state, which is measured and in no table. The ids of each state come
 * from memory, and the database selects by them: the fewer ids, those of the state or all others, are sent.
 */
import { sql, type SelectQueryBuilder } from 'kysely';
import { isPostgres } from '../schema/database-kind.ts';
import type { Database } from '../schema/schema.ts';
import { orderedPage } from './counted-page.ts';
import type { ListOrder } from './list-pages.ts';
import type { Page, PageRequest } from './page.ts';
import type { Queries } from './store.ts';

/** Ids by state. A row whose id is in none of them counts as any. */
export type StatedIds = ReadonlyMap<string, readonly string[]>;

interface StatedList {
  readonly ids: StatedIds;
  /** Whether the query leaves out some of the ids. */
  readonly isFiltered: boolean;
  /** Undefined: any state. */
  readonly state: string | undefined;
}

/** With fewer ids, the rows are looked up; with more, the ids are looked up for each row. */
const FEW_IDS = 5_000;

/** Returns one page of `query`, whose rows have `id`. `sort` may be `status`, which `order` does not have. */
export async function statedPage<TB extends keyof Database, O>(
  db: Queries,
  query: SelectQueryBuilder<Database, TB, O>,
  order: Pick<ListOrder, 'fields' | 'tie'>,
  request: PageRequest,
  { ids, state, isFiltered }: StatedList,
): Promise<Page<O>> {
  if (state !== undefined) {
    const own = request.sort === 'status' ? { ...request, sort: TIE } : request;
    return orderedPage(inState(db, query, ids, state), withTie(order), own);
  }
  const states = [...ids.keys()].sort();
  if (request.direction === 'desc') states.reverse();
  const content: O[] = [];
  const from = request.page * request.size;
  let before = 0;
  for (const each of states) {
    const part = inState(db, query, ids, each);
    const total = isFiltered ? await countOf(part) : ids.get(each)!.length;
    const skipped = Math.max(0, from - before);
    const wanted = request.size - content.length;
    before += total;
    if (wanted === 0 || skipped >= total) continue;
    const rows = await part
      .orderBy(sql`${order.tie}`, request.direction)
      .limit(wanted)
      .offset(skipped)
      .execute();
    content.push(...rows);
  }
  return { content, total: before };
}

async function countOf<TB extends keyof Database, O>(
  query: SelectQueryBuilder<Database, TB, O>,
): Promise<number> {
  const { total } = await query
    .clearSelect()
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  return Number(total);
}

const TIE = 'tie';

function withTie({ fields, tie }: Pick<ListOrder, 'fields' | 'tie'>): Pick<ListOrder, 'fields' | 'tie'> {
  return { fields: { ...fields, [TIE]: tie }, tie };
}

function inState<TB extends keyof Database, O>(
  db: Queries,
  query: SelectQueryBuilder<Database, TB, O>,
  ids: StatedIds,
  state: string,
): SelectQueryBuilder<Database, TB, O> {
  const own = ids.get(state) ?? [];
  const others = [...ids].flatMap(([each, some]) => (each === state ? [] : some));
  const isOwn = own.length <= others.length;
  const list = isOwn ? own : others;
  if (isPostgres(db))
    return query.where(
      isOwn ? sql<boolean>`id = any(${list}::text[])` : sql<boolean>`id <> all(${list}::text[])`,
    );
  const values = sql`(select value from json_each(${JSON.stringify(list)}))`;
  if (!isOwn) return query.where(sql<boolean>`id not in ${values}`);
  // An expression has no index, so that the ids are looked up for each row.
  const id = own.length <= FEW_IDS ? sql`id` : sql`(id || '')`;
  return query.where(sql<boolean>`${id} in ${values}`);
}
