/**
 * One page of a short list with a counted total, for lists of the installation. Lists of a frontdoor may be long
 * and use `ListPages`.
 */
import { sql, type SelectQueryBuilder } from 'kysely';
import { orderedRange } from '#base';
import type { ListOrder } from './list-pages.ts';
import { inOrderOf } from './measured-page.ts';
import type { Page, PageRequest } from './page.ts';
import type { Database } from '../schema/schema.ts';

/** The rows have `id`, `name` and `created_at`. Ties are broken by id, so that pages never overlap. */
export function countedPage<TB extends keyof Database, O>(
  query: SelectQueryBuilder<Database, TB, O>,
  request: PageRequest,
): Promise<Page<O>> {
  return orderedPage(query, PLAIN, request);
}

const PLAIN: Pick<ListOrder, 'fields' | 'tie'> = {
  tie: sql.ref('id'),
  fields: {
    default: sql.ref('created_at'),
    createdAt: sql.ref('created_at'),
    name: sql.ref('name'),
    status: sql.ref('status'),
    id: sql.ref('id'),
    email: sql.ref('email'),
    role: sql.ref('role'),
  },
};

/** A page in a custom order, for the filtered part of a long list. */
export async function orderedPage<TB extends keyof Database, O>(
  query: SelectQueryBuilder<Database, TB, O>,
  { fields, tie }: Pick<ListOrder, 'fields' | 'tie'>,
  { page, size, sort, direction }: PageRequest,
): Promise<Page<O>> {
  const field = fields[sort];
  if (field === undefined) throw new Error(`there is no order by ${sort}`);
  const { total } = await query
    .clearSelect()
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  const content = await query
    .orderBy(sql`${field}`, direction)
    .orderBy(sql`${tie}`, direction)
    .limit(size)
    .offset(page * size)
    .execute();
  return { content, total };
}

/** A list whose matches are at most this many is read once; of others, the order finds a page soon. */
const FEW = 500;

/**
 * A page of what a filter leaves of a very long list that has no index for the filter. The total and the page would each
 * read the whole list where few rows match, so these come from one statement.
 */
export async function matchedPage<TB extends keyof Database, O extends { readonly id: string }>(
  query: SelectQueryBuilder<Database, TB, O>,
  order: Pick<ListOrder, 'fields' | 'tie'>,
  request: PageRequest,
): Promise<Page<O>> {
  const { page, size, sort, direction } = request;
  const field = order.fields[sort];
  if (field === undefined) throw new Error(`there is no order by ${sort}`);
  const found = await query
    .clearSelect()
    .select([
      sql<string>`id`.as('id'),
      sql<number | string>`${field}`.as('value'),
      sql<number | string>`${order.tie}`.as('tie'),
    ])
    .limit(FEW + 1)
    .execute();
  if (found.length > FEW) return orderedPage(query, order, request);
  const sign = direction === 'asc' ? 1 : -1;
  const total = found.length;
  const ids = orderedRange(
    found,
    (a, b) => sign * (compared(a.value, b.value) || compared(a.tie, b.tie)),
    page * size,
    (page + 1) * size,
  ).map(({ id }) => id);
  if (ids.length === 0) return { content: [], total };
  const rows = await query.where(sql<boolean>`id in (${sql.join(ids)})`).execute();
  return { content: inOrderOf(ids, rows), total };
}

/** As databases compare numbers, and texts of ASCII. */
function compared(a: number | string, b: number | string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
