/** Reads the request log of a frontdoor: a page after a cursor, by filters. Every query is bound to the frontdoor. */
import { sql, type Selectable } from 'kysely';
import { containsIn, isOfClass, narrowed, type Database, type Queries } from '../../store/mod.ts';
import type { GrantedFrontdoor } from './frontdoor-store.ts';

export type StoredRequest = Selectable<Database['logged_request']>;

/** An entry, after which a page begins. */
export interface RequestCursor {
  readonly at: number;
  readonly id: string;
}

/** Entries must satisfy all of these. */
export interface RequestFilter {
  readonly fromMs?: number | undefined;
  readonly toMs?: number | undefined;
  readonly text?: string | undefined;
  readonly shareToken?: string | undefined;
  /** An outcome, or `unserved`. */
  readonly outcome?: string | undefined;
  readonly statusClass?: string | undefined;
  readonly status?: number | undefined;
  readonly method?: string | undefined;
  readonly host?: string | undefined;
  readonly client?: string | undefined;
  readonly caller?: string | undefined;
  readonly authProviderId?: string | undefined;
  readonly code?: string | undefined;
  readonly minMs?: number | undefined;
}

/** Returns at most `size` entries, newest first, that are older than the cursor. */
export async function listRequests(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  filter: RequestFilter,
  { size, cursor }: { readonly size: number; readonly cursor: RequestCursor | undefined },
): Promise<readonly StoredRequest[]> {
  let query = filtered(db, frontdoor, filter);
  if (cursor !== undefined) query = query.where(sql<boolean>`(at, id) < (${cursor.at}, ${cursor.id})`);
  return query.selectAll().orderBy('at', 'desc').orderBy('id', 'desc').limit(size).execute();
}

export function findRequest(
  db: Queries,
  frontdoor: GrantedFrontdoor,
  id: string,
): Promise<StoredRequest | undefined> {
  return db
    .selectFrom('logged_request')
    .selectAll()
    .where('id', '=', id)
    .where('frontdoor_id', '=', frontdoor.id)
    .executeTakeFirst();
}

function filtered(db: Queries, frontdoor: GrantedFrontdoor, filter: RequestFilter) {
  const { outcome, statusClass, minMs, text } = filter;
  const own = db.selectFrom('logged_request').where('frontdoor_id', '=', frontdoor.id);
  let query = narrowed(own, { fromMs: filter.fromMs, toMs: filter.toMs }, { at: 'at' });
  for (const [column, value] of [
    ['share_token', filter.shareToken],
    ['status', filter.status],
    ['method', filter.method],
    ['host', filter.host],
    ['client', filter.client],
    ['identity', filter.caller],
    ['provider_id', filter.authProviderId],
    ['code', filter.code],
  ] as const) {
    if (value !== undefined) query = query.where(column, '=', value);
  }
  if (outcome === 'unserved') query = query.where('is_served', '=', 0);
  else if (outcome !== undefined) query = query.where('outcome', '=', outcome);
  if (statusClass !== undefined) query = query.where(isOfClass(sql.ref('status'), statusClass));
  if (minMs !== undefined) query = query.where('done_us', '>=', minMs * 1_000);
  if (text !== undefined)
    query = query.where(
      containsIn(
        ['host', 'path', 'identity', 'cause', 'code'].map((column) => sql.ref(column)),
        text,
      ),
    );
  return query;
}
