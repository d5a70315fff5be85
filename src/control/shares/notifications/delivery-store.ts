/**
 * The queue of notifications: an event, and a delivery for each destination that receives it. Control planes take due
 * deliveries with a lease, so that each is sent by one of them, and sent again if that one ends.
 */
import { randomUUID } from 'node:crypto';
import { sql, type RawBuilder } from 'kysely';
import type { NotificationEventType } from '#contract';
import { isUuid } from '#domain';
import { orderedPage, type Page, type PageRequest, type Queries, type Touch } from '../../store/mod.ts';
import { hasCollector } from './exported-events.ts';
import { destinationsFor, type DestinationType } from './destination-store.ts';

export type DeliveryState = 'PENDING' | 'DELIVERED' | 'FAILED';

export interface NotificationDelivery {
  readonly id: string;
  readonly destinationId: string;
  readonly eventId: string;
  readonly type: string;
  readonly eventAtMs: number;
  /** JSON. */
  readonly data: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly dueAtMs: number;
  readonly attemptedAtMs: number | null;
  readonly status: number | null;
  readonly problem: string | null;
  /** Marks of the email addresses that have it. */
  readonly accepted: readonly string[];
  readonly createdAtMs: number;
}

export interface NewEvent {
  /** '' for the installation. */
  readonly organizationId: string;
  readonly type: NotificationEventType;
  readonly data: unknown;
}

const MAX_WAITING = 1_000;
const MAX_FINISHED = 500;
const KEPT_MS = 30 * 86_400_000;
/** Messages in one mail. */
const MAX_GATHERED = 100;
/** How long a message waits for others, with which it is one message then. */
const GATHERED_MS: Readonly<Record<DestinationType, number>> = { webhook: 0, email: 60_000 };
const QUEUE_FULL = `${MAX_WAITING} notifications wait for this destination already`;

/** Queues an event for each destination that receives it, inside the caller's transaction. */
export async function publishEvent(
  trx: Queries,
  touch: Touch,
  { organizationId, type, data }: NewEvent,
  nowMs: number,
): Promise<void> {
  const destinations = await destinationsFor(trx, organizationId, type);
  const unexported = (await hasCollector(trx)) ? 1 : 0;
  if (destinations.length === 0 && unexported === 0) return;
  const eventId = randomUUID();
  await trx
    .insertInto('notification_event')
    .values({
      id: eventId,
      organization_id: organizationId,
      type,
      at: nowMs,
      data: JSON.stringify(data),
      unexported,
    })
    .execute();
  if (destinations.length === 0) return;
  const waiting = await waitingOf(
    trx,
    destinations.map(({ id }) => id),
  );
  for (const { id: destinationId, type: kind } of destinations) {
    const isFull = (waiting.get(destinationId) ?? 0) >= MAX_WAITING;
    await trx
      .insertInto('notification_delivery')
      .values({
        id: randomUUID(),
        destination_id: destinationId,
        event_id: eventId,
        state: isFull ? 'FAILED' : 'PENDING',
        due_at: nowMs + GATHERED_MS[kind],
        created_at: nowMs,
        attempted_at: null,
        status: null,
        problem: isFull ? QUEUE_FULL : null,
      })
      .execute();
    touch('notification', destinationId);
  }
}

async function waitingOf(db: Queries, destinations: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const counts = await db
    .selectFrom('notification_delivery')
    .select(['destination_id', sql<number | string>`count(*)`.as('count')])
    .where('destination_id', 'in', destinations)
    .where('state', '=', 'PENDING')
    .groupBy('destination_id')
    .execute();
  return new Map(counts.map(({ destination_id: id, count }) => [id, Number(count)]));
}

export interface DueDeliveries {
  readonly nowMs: number;
  readonly leaseUntilMs: number;
  readonly most: number;
  /** Destinations to which this control plane is sending. */
  readonly except: readonly string[];
}

/**
 * Takes deliveries that are due, the oldest one of each destination; for mail with what else waits for the same recipients, whether
 * due or never sent, which becomes one message. One statement takes all of a destination, so that two control planes never share them.
 */
export async function takeDueDeliveries(
  db: Queries,
  due: DueDeliveries,
): Promise<readonly (readonly NotificationDelivery[])[]> {
  const first = await dueDeliveries(db, due);
  if (first.length === 0) return [];
  const beside = await gatheredDeliveries(
    db,
    first.filter(({ kind }) => GATHERED_MS[kind] > 0).map(({ destination_id: id }) => id),
    due.nowMs,
  );
  const batches = first.map((each) => [
    each,
    ...beside.filter(
      ({ id, destination_id: destination, accepted }) =>
        id !== each.id && destination === each.destination_id && accepted === each.accepted,
    ),
  ]);
  const taken = await db
    .updateTable('notification_delivery')
    .set({ due_at: due.leaseUntilMs, attempted_at: due.nowMs })
    .where(
      'id',
      'in',
      batches.flat().map(({ id }) => id),
    )
    .where('state', '=', 'PENDING')
    .where(isReady(due.nowMs))
    .returning('id')
    .execute();
  const ids = new Set(taken.map(({ id }) => id));
  return batches
    .map((batch) => batch.filter(({ id }) => ids.has(id)).map(deliveryOf))
    .filter((batch) => batch.length > 0);
}

/** One that was attempted waits for its time; until then it may be under way at another control plane. */
function isReady(nowMs: number): RawBuilder<boolean> {
  return sql<boolean>`(attempted_at is null or due_at <= ${nowMs})`;
}

async function dueDeliveries(db: Queries, { nowMs, most, except }: DueDeliveries) {
  const place = sql<number>`row_number() over (partition by destination_id order by due_at, notification_delivery.id)`;
  let query = deliveries(db)
    .innerJoin(
      'notification_destination',
      'notification_destination.id',
      'notification_delivery.destination_id',
    )
    .select(['notification_destination.type as kind', place.as('nth')])
    .where('state', '=', 'PENDING')
    .where('due_at', '<=', nowMs)
    .where('paused_until', '<=', nowMs)
    .where('enabled', '=', 1);
  if (except.length > 0) query = query.where('destination_id', 'not in', except);
  return db
    .selectFrom(query.as('waiting'))
    .selectAll()
    .where('nth', '=', 1)
    .orderBy('due_at')
    .limit(most)
    .execute();
}

async function gatheredDeliveries(db: Queries, destinationIds: readonly string[], nowMs: number) {
  if (destinationIds.length === 0) return [];
  const place = sql<number>`row_number() over (partition by destination_id order by notification_delivery.created_at, notification_delivery.id)`;
  const ready = deliveries(db)
    .select(place.as('nth'))
    .where('destination_id', 'in', destinationIds)
    .where('state', '=', 'PENDING')
    .where(isReady(nowMs));
  return db.selectFrom(ready.as('ready')).selectAll().where('nth', '<', MAX_GATHERED).execute();
}

export interface AttemptOutcome {
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly dueAtMs: number;
  readonly status: number | null;
  readonly problem: string | null;
  readonly accepted: readonly string[];
}

export async function noteAttempt(
  db: Queries,
  id: string,
  { state, attempts, dueAtMs, status, problem, accepted }: AttemptOutcome,
): Promise<void> {
  await db
    .updateTable('notification_delivery')
    .set({
      state,
      attempts,
      due_at: dueAtMs,
      status,
      problem,
      accepted: accepted.length === 0 ? null : accepted.join(' '),
    })
    .where('id', '=', id)
    .where('state', '=', 'PENDING')
    .execute();
}

export async function findDelivery(
  db: Queries,
  destinationId: string,
  id: string,
): Promise<NotificationDelivery | undefined> {
  if (!isUuid(id)) return undefined;
  const row = await deliveries(db)
    .where('notification_delivery.id', '=', id.toLowerCase())
    .where('destination_id', '=', destinationId)
    .executeTakeFirst();
  return row && deliveryOf(row);
}

/** Sends one that has failed again, from its first attempt. Returns whether it had failed. */
export async function retryDelivery(
  trx: Queries,
  touch: Touch,
  { id, destinationId }: Pick<NotificationDelivery, 'id' | 'destinationId'>,
  nowMs: number,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('notification_delivery')
    .set({ state: 'PENDING', attempts: 0, due_at: nowMs })
    .where('id', '=', id)
    .where('state', '=', 'FAILED')
    .executeTakeFirst();
  touch('notification', destinationId);
  return numUpdatedRows > 0n;
}

const CREATED_AT = sql.ref('notification_delivery.created_at');
const ID = sql.ref('notification_delivery.id');
const ORDER = { tie: ID, fields: { default: CREATED_AT, createdAt: CREATED_AT } };

export interface DeliveryFilter {
  readonly state: string | undefined;
  /** Undefined: all. */
  readonly types: readonly NotificationEventType[] | undefined;
}

/** The newest first. */
export async function listDeliveries(
  db: Queries,
  destinationId: string,
  request: PageRequest,
  { state, types }: DeliveryFilter,
): Promise<Page<NotificationDelivery>> {
  let query = deliveries(db).where('destination_id', '=', destinationId);
  if (state !== undefined) query = query.where(sql<boolean>`state = ${state}`);
  if (types !== undefined) query = query.where('notification_event.type', 'in', types);
  const newest = { ...request, sort: 'createdAt', direction: 'desc' } as const;
  const { content, total } = await orderedPage(query, ORDER, newest);
  return { content: content.map(deliveryOf), total };
}

/** Removes finished deliveries that are old or too many, then events without deliveries. Returns the number of rows. */
export async function deleteFinished(db: Queries, nowMs: number, most: number): Promise<number> {
  const place = sql<number>`row_number() over (partition by destination_id order by created_at desc, id)`;
  const finished = db
    .selectFrom('notification_delivery')
    .select(['id', 'created_at', place.as('nth')])
    .where('state', '!=', 'PENDING');
  const surplus = db
    .selectFrom(finished.as('finished'))
    .select('id')
    .where((eb) => eb.or([eb('nth', '>', MAX_FINISHED), eb('created_at', '<', nowMs - KEPT_MS)]))
    .limit(most);
  const gone = await db.deleteFrom('notification_delivery').where('id', 'in', surplus).executeTakeFirst();
  const unused = db
    .selectFrom('notification_event')
    .select('notification_event.id')
    .leftJoin('notification_delivery', 'notification_delivery.event_id', 'notification_event.id')
    .where('notification_delivery.id', 'is', null)
    .where((eb) => eb.or([eb('unexported', '=', 0), eb('notification_event.at', '<', nowMs - KEPT_MS)]))
    .limit(most);
  const events = await db.deleteFrom('notification_event').where('id', 'in', unused).executeTakeFirst();
  return Math.max(Number(gone.numDeletedRows), Number(events.numDeletedRows));
}

function deliveries(db: Queries) {
  return db
    .selectFrom('notification_delivery')
    .innerJoin('notification_event', 'notification_event.id', 'notification_delivery.event_id')
    .select([
      'notification_delivery.id',
      'destination_id',
      'event_id',
      'state',
      'attempts',
      'due_at',
      'attempted_at',
      'status',
      'problem',
      'accepted',
      'notification_delivery.created_at',
      'notification_event.type',
      'notification_event.at',
      'data',
    ]);
}

type DeliveryRow = Awaited<ReturnType<ReturnType<typeof deliveries>['execute']>>[number];

function deliveryOf(row: DeliveryRow): NotificationDelivery {
  return {
    id: row.id,
    destinationId: row.destination_id,
    eventId: row.event_id,
    type: row.type,
    eventAtMs: row.at,
    data: row.data,
    state: row.state,
    attempts: row.attempts,
    dueAtMs: row.due_at,
    attemptedAtMs: row.attempted_at,
    status: row.status,
    problem: row.problem,
    accepted: row.accepted?.split(' ') ?? [],
    createdAtMs: row.created_at,
  };
}
