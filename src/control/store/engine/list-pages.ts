/**
 * Pages of a frontdoor's lists at a cost that does not depend on their depth: counts come from the `collection`
 * row that triggers maintain, and starting positions of pages are cached. The cache is valid while the list's
 * version, read in the same statement as the rows, is unchanged.
 */
import { sql, type Kysely, type RawBuilder, type SelectQueryBuilder } from 'kysely';
import type { Page, PageRequest } from './page.ts';
import type { CollectionTable, Database } from '../schema/schema.ts';

export interface ListOrder {
  readonly kind: CollectionTable['kind'];
  /** The expression for a sort field: never null, with an index (frontdoor_id, it, tie). 'default' is required. */
  readonly fields: Readonly<Record<string, RawBuilder<unknown>>>;
  /** Breaks ties: unique in the frontdoor. */
  readonly tie: RawBuilder<unknown>;
}

interface Position {
  readonly value: unknown;
  readonly tie: unknown;
}

interface Remembered {
  readonly version: number;
  /** The entry with so many entries before it. */
  readonly begins: Map<number, Position>;
}

interface Start {
  readonly offset: number;
  readonly position: Position;
}

interface PageColumns {
  readonly list_total: number;
  readonly list_version: number;
  readonly list_value: unknown;
  readonly list_tie: unknown;
}

const MAX_LISTS = 1_000;
const MAX_POSITIONS = 64;

export class ListPages {
  readonly #lists = new Map<string, Remembered>();

  /** Returns one page of `query`, which is bound to the frontdoor already. Fields must be in `order`. */
  async page<TB extends keyof Database, O>(
    db: Kysely<Database>,
    query: SelectQueryBuilder<Database, TB, O>,
    order: ListOrder,
    frontdoorId: string,
    request: PageRequest,
  ): Promise<Page<O>> {
    const { page, size, sort, direction } = request;
    const field = order.fields[sort];
    if (field === undefined) throw new Error(`lists of ${order.kind} have no field ${sort}`);
    const key = [order.kind, frontdoorId, sort, direction].join(' ');
    const offset = page * size;
    const remembered = this.#lists.get(key);
    const start = remembered === undefined ? undefined : nearestStart(remembered.begins, offset);
    // Reads one more row, at which the next page begins.
    const read = (from: Start | undefined) =>
      rowsOf(db, query, order, field, frontdoorId, { direction, offset, limit: size + 1 }, from);
    let rows = await read(start);
    if (start !== undefined && rows[0]?.list_version !== remembered!.version) rows = await read(undefined);
    const [first] = rows;
    if (first === undefined) return { content: [], total: await listTotal(db, order.kind, frontdoorId) };
    this.#remember(key, first.list_version, offset, first);
    if (rows.length > size) this.#remember(key, first.list_version, offset + size, rows[size]!);
    return { content: rows.slice(0, size).map(withoutPageColumns), total: first.list_total };
  }

  #remember(key: string, version: number, offset: number, row: PageColumns): void {
    let list = this.#lists.get(key);
    if (list === undefined || list.version !== version) list = { version, begins: new Map() };
    this.#lists.delete(key);
    this.#lists.set(key, list);
    list.begins.delete(offset);
    list.begins.set(offset, { value: row.list_value, tie: row.list_tie });
    if (list.begins.size > MAX_POSITIONS) list.begins.delete(list.begins.keys().next().value!);
    if (this.#lists.size > MAX_LISTS) this.#lists.delete(this.#lists.keys().next().value!);
  }
}

function nearestStart(begins: ReadonlyMap<number, Position>, offset: number): Start | undefined {
  let nearest: Start | undefined;
  for (const [begin, position] of begins) {
    if (begin <= offset && (nearest === undefined || begin > nearest.offset))
      nearest = { offset: begin, position };
  }
  return nearest;
}

interface Span {
  readonly direction: PageRequest['direction'];
  readonly offset: number;
  readonly limit: number;
}

async function rowsOf<TB extends keyof Database, O>(
  db: Kysely<Database>,
  query: SelectQueryBuilder<Database, TB, O>,
  order: ListOrder,
  field: RawBuilder<unknown>,
  frontdoorId: string,
  { direction, offset, limit }: Span,
  start: Start | undefined,
): Promise<(O & PageColumns)[]> {
  const { tie } = order;
  const list = sql`from collection where frontdoor_id = ${frontdoorId} and kind = ${order.kind}`;
  let whole = query.select([
    sql<number>`(select total ${list})`.as('list_total'),
    sql<number>`(select version ${list})`.as('list_version'),
    sql<unknown>`${field}`.as('list_value'),
    sql<unknown>`${tie}`.as('list_tie'),
  ]);
  if (start !== undefined) {
    const { value, tie: firstTie } = start.position;
    const comparison = direction === 'asc' ? sql`>=` : sql`<=`;
    whole = whole.where(sql<boolean>`(${field}, ${tie}) ${comparison} (${value}, ${firstTie})`);
  }
  return whole
    .orderBy(sql`${field}`, direction)
    .orderBy(sql`${tie}`, direction)
    .limit(limit)
    .offset(offset - (start?.offset ?? 0))
    .execute();
}

/** The number of entries of a frontdoor's list. */
export async function listTotal(
  db: Kysely<Database>,
  kind: CollectionTable['kind'],
  frontdoorId: string,
): Promise<number> {
  const row = await db
    .selectFrom('collection')
    .select('total')
    .where('frontdoor_id', '=', frontdoorId)
    .where('kind', '=', kind)
    .executeTakeFirst();
  return row?.total ?? 0;
}

function withoutPageColumns<O>(row: O & PageColumns): O {
  const {
    list_total: _total,
    list_version: _version,
    list_value: _value,
    list_tie: _tie,
    ...rest
  } = row as PageColumns & Record<string, unknown>;
  return rest as O;
}
