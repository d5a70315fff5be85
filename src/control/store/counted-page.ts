/**
 * One page of a short list, with its total counted: for lists of the installation. What a frontdoor holds may be long
 * and has `ListPages`.
 */
import { sql, type SelectQueryBuilder } from 'kysely';
import type { Page, PageRequest } from './page.ts';
import type { Database } from './schema.ts';

/** The rows have `id`, `name` and `created_at`; ties are broken by id, so that pages never overlap. */
export async function countedPage<TB extends keyof Database, O>(
  query: SelectQueryBuilder<Database, TB, O>,
  { page, size, sort, direction }: PageRequest,
): Promise<Page<O>> {
  const { total } = await query
    .clearSelect()
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  let ordered = query;
  if (sort === 'name') ordered = ordered.orderBy(sql.ref('name'), direction);
  if (sort === 'default') ordered = ordered.orderBy(sql.ref('created_at'));
  const content = await ordered
    .orderBy(sql.ref('id'), direction)
    .limit(size)
    .offset(page * size)
    .execute();
  return { content, total };
}
