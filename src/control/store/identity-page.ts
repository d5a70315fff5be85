import type { SelectQueryBuilder } from 'kysely';
import type { PageRequest } from './page.ts';
import type { Database } from './schema.ts';

/** One page of a query over identities, in the order asked for; ties by id, so that pages never overlap. */
export function pageOfIdentities<O>(
  query: SelectQueryBuilder<Database, 'identity', O>,
  request: PageRequest,
): Promise<O[]> {
  let ordered = query;
  if (request.sort === 'name') ordered = ordered.orderBy('name', request.direction);
  if (request.sort === 'default') ordered = ordered.orderBy('created_at');
  return ordered
    .orderBy('id', request.direction)
    .limit(request.size)
    .offset(request.page * request.size)
    .execute();
}
