/**
 * One page of a short list with a counted total, for lists of the installation. Lists of a frontdoor may be long
 * and use `ListPages`.
 */
import { sql, type SelectQueryBuilder } from 'kysely';
import type { ListOrder } from './list-pages.ts';
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
    ...{ default: sql.ref('created_at'), createdAt: sql.ref('created_at') },
    ...{ name: sql.ref('name'), status: sql.ref('status'), id: sql.ref('id') },
    ...{ email: sql.ref('email'), role: sql.ref('role') },
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
