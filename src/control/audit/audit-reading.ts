/**
 * Reads a chain of the audit trail: pages, newest first, and the events after a given one. Sequences have no
 * gaps, so that without a filter a page is found by arithmetic at any depth.
 */
import { sql, type RawBuilder, type SelectQueryBuilder } from 'kysely';
import { isUuid } from '#domain';
import {
  containsIn,
  jsonField,
  type Database,
  type Page,
  type PageRequest,
  type Queries,
} from '../store/mod.ts';
import type { AuditRow } from './audit-store.ts';

/** Events must satisfy all of these. */
export interface AuditFilter {
  /** Contained in the id, the action, the name or id of actor or target, or the address. */
  readonly text?: string | undefined;
  /** With `text`: a query of the ids of actors whose names contain it. */
  readonly actorsNamed?: RawBuilder<unknown> | undefined;
  readonly action?: string | undefined;
  readonly actorId?: string | undefined;
  readonly targetId?: string | undefined;
  readonly result?: 'ok' | 'refused' | undefined;
  /** Unix milliseconds, inclusive. */
  readonly fromMs?: number | undefined;
  /** Unix milliseconds, exclusive. */
  readonly toMs?: number | undefined;
}

export async function listAudit(
  db: Queries,
  organizationId: string,
  filter: AuditFilter,
  { page, size, sort, direction }: PageRequest,
): Promise<Page<AuditRow>> {
  const chain = filtered(db, organizationId, filter);
  const isOldestFirst = sort !== 'default' && direction === 'asc';
  const inOrder = chain
    .selectAll()
    .orderBy('sequence', isOldestFirst ? 'asc' : 'desc')
    .limit(size);
  if (isEmpty(filter)) {
    const total = await lastSequence(db, organizationId);
    const content = isOldestFirst
      ? await inOrder.where('sequence', '>', page * size).execute()
      : await inOrder.where('sequence', '<=', total - page * size).execute();
    return { content, total };
  }
  const { total } = await chain
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const offset = page * size;
  return { content: offset < total ? await inOrder.offset(offset).execute() : [], total };
}

/** Events that a search examines, so that it costs the same however long the chain is. */
const SEARCHED_EVENTS = 1_000;

/** The newest events with the text, at most so many, and the event of that id. */
export async function searchAudit(
  db: Queries,
  organizationId: string,
  text: string,
  limit: number,
): Promise<readonly AuditRow[]> {
  const last = await lastSequence(db, organizationId);
  const latest = await filtered(db, organizationId, { text })
    .selectAll()
    .where('sequence', '>', last - SEARCHED_EVENTS)
    .orderBy('sequence', 'desc')
    .limit(limit)
    .execute();
  if (latest.length > 0 || !isUuid(text)) return latest;
  return eventsOf(db, organizationId).selectAll().where('id', '=', text.toLowerCase()).execute();
}

export interface AuditSpan {
  readonly rows: readonly AuditRow[];
  /** Everything up to this sequence has been examined. */
  readonly lastSequence: number;
}

/** Returns the next events, oldest first, at most so many. */
export async function auditAfter(
  db: Queries,
  organizationId: string,
  filter: AuditFilter,
  sequence: number,
  limit: number,
): Promise<AuditSpan> {
  // Read first, because events that are appended in the meantime belong to the next call.
  const end = await lastSequence(db, organizationId);
  if (end <= sequence) return { rows: [], lastSequence: sequence };
  const rows = await filtered(db, organizationId, filter)
    .selectAll()
    .where('sequence', '>', sequence)
    .where('sequence', '<=', end)
    .orderBy('sequence')
    .limit(limit)
    .execute();
  return { rows, lastSequence: rows.length < limit ? end : rows.at(-1)!.sequence };
}

/** Returns 0 if there is none. */
export async function lastSequence(db: Queries, organizationId: string): Promise<number> {
  const head = await db
    .selectFrom('audit_head')
    .select('sequence')
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  return head?.sequence ?? 0;
}

function eventsOf(db: Queries, organizationId: string) {
  return db.selectFrom('audit_event').where('organization_id', '=', organizationId);
}

function filtered(
  db: Queries,
  organizationId: string,
  { text, actorsNamed, action, actorId, targetId, result, fromMs, toMs }: AuditFilter,
): SelectQueryBuilder<Database, 'audit_event', object> {
  let narrowed = eventsOf(db, organizationId);
  if (text !== undefined) narrowed = narrowed.where(hasText(db, text, actorsNamed));
  if (action !== undefined) narrowed = narrowed.where('action', '=', action);
  if (actorId !== undefined) narrowed = narrowed.where('actor_id', '=', actorId);
  if (targetId !== undefined) narrowed = narrowed.where('target_id', '=', targetId);
  if (result !== undefined) narrowed = narrowed.where('result', '=', result);
  if (fromMs !== undefined) narrowed = narrowed.where('at', '>=', fromMs);
  if (toMs !== undefined) narrowed = narrowed.where('at', '<', toMs);
  return narrowed;
}

/** Fields of a resource that are its name, for people. */
const NAMES = ['name', 'hostname', 'email'];

function hasText(
  db: Queries,
  text: string,
  actorsNamed: RawBuilder<unknown> | undefined,
): RawBuilder<boolean> {
  const columns = ['id', 'action', 'actor_id', 'target_id', 'address'].map((column) => sql.ref(column));
  const inColumns = containsIn(columns, text);
  const named = ['before', 'after'].map((column) => {
    const inNames = containsIn(
      NAMES.map((name) => jsonField(db, column, name)),
      text,
    );
    // Most events do not have the text at all, and are not parsed.
    const written = JSON.stringify(text).slice(1, -1);
    return sql<boolean>`(case when ${containsIn([sql.ref(column)], written)} then ${inNames} else false end)`;
  });
  const byName = actorsNamed === undefined ? [] : [sql`actor_id in (${actorsNamed})`];
  return sql<boolean>`(${sql.join([inColumns, ...named, ...byName], sql` or `)})`;
}

function isEmpty(filter: AuditFilter): boolean {
  return Object.values(filter).every((value) => value === undefined);
}

/** Counts the events of all organizations by the ends of their chains, because events are never removed. */
export async function auditEventCount(db: Queries): Promise<number> {
  const { total } = await db
    .selectFrom('audit_head')
    .select(({ fn }) => fn.sum<number | string | null>('sequence').as('total'))
    .executeTakeFirstOrThrow();
  return Number(total ?? 0);
}
