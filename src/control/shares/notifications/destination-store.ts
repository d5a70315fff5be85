/** The destinations of notifications. Addresses and secrets are sealed; records have them in clear, for sending and for owners. */
import { randomUUID } from 'node:crypto';
import { sql, type Selectable } from 'kysely';
import { FrontdoorError } from '#base';
import { isNotificationEventType, isOfInstallation, type NotificationEventType } from '#contract';
import { isUuid } from '#domain';
import { readAlone } from '#net';
import type { Secrets } from '../../secrets/mod.ts';
import {
  lockedForUpdate,
  narrowed,
  orderedPage,
  type Database,
  type ListFilter,
  type Page,
  type PageRequest,
  type Queries,
  type Touch,
} from '../../store/mod.ts';

export const MAX_DESTINATIONS = 20;
/** Replaces an address that cannot be unsealed, so that its owner sees and mends or deletes the destination. Never a host. */
const UNREADABLE_URL = 'https://unreadable.invalid/';

type Row = Selectable<Database['notification_destination']>;
export type DestinationType = Row['type'];

export interface NotificationDestination {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly type: DestinationType;
  readonly isEnabled: boolean;
  readonly events: readonly NotificationEventType[];
  /** The address of a webhook; null for other types. */
  readonly url: string | null;
  /** Email addresses; none for other types. */
  readonly addresses: readonly string[];
  readonly secret: string | null;
  readonly previous: { readonly secret: string; readonly untilMs: number } | null;
  /** Successive failures. */
  readonly failures: number;
  readonly lastSuccessAtMs: number | null;
  readonly lastProblem: string | null;
  readonly createdAtMs: number;
}

type Sealing = Pick<Secrets, 'seal' | 'unseal'>;

export type NewDestination = Pick<
  NotificationDestination,
  'organizationId' | 'name' | 'type' | 'isEnabled' | 'events' | 'url' | 'addresses' | 'secret'
>;

/** The organization is locked. Throws `conflict` if it has as many as it may have. */
export async function createDestination(
  trx: Queries,
  secrets: Sealing,
  wanted: NewDestination,
  nowMs: number,
): Promise<NotificationDestination> {
  const { count } = await trx
    .selectFrom('notification_destination')
    .select(({ fn }) => fn.countAll<number | string>().as('count'))
    .where('organization_id', '=', wanted.organizationId)
    .executeTakeFirstOrThrow();
  if (Number(count) >= MAX_DESTINATIONS) {
    const message = `An organization has at most ${MAX_DESTINATIONS} destinations for notifications: delete one first`;
    throw new FrontdoorError('conflict', 'conflict', message);
  }
  const row = {
    id: randomUUID(),
    organization_id: wanted.organizationId,
    name: wanted.name,
    type: wanted.type,
    enabled: wanted.isEnabled ? 1 : 0,
    events: wanted.events.join(' '),
    ...sealedTarget(secrets, wanted),
    secret_sealed: wanted.secret === null ? null : secrets.seal(wanted.secret),
    previous_sealed: null,
    previous_until: null,
    failures: 0,
    paused_until: 0,
    last_success_at: null,
    last_problem: null,
    created_at: nowMs,
  };
  await trx.insertInto('notification_destination').values(row).execute();
  return destinationOf(secrets, row);
}

export async function findDestination(
  db: Queries,
  secrets: Sealing,
  id: string,
): Promise<NotificationDestination | undefined> {
  if (!isUuid(id)) return undefined;
  const row = await rows(db).where('id', '=', id.toLowerCase()).executeTakeFirst();
  return row && destinationOf(secrets, row);
}

/** Locks the destination until the transaction ends. */
export async function lockDestination(
  trx: Queries,
  secrets: Sealing,
  id: string,
): Promise<NotificationDestination | undefined> {
  if (!isUuid(id)) return undefined;
  const query = rows(trx).where('id', '=', id.toLowerCase());
  const row = await lockedForUpdate(trx, query).executeTakeFirst();
  return row && destinationOf(secrets, row);
}

const CREATED_AT = sql.ref('notification_destination.created_at');
const NAME = sql.ref('notification_destination.name');
const ID = sql.ref('notification_destination.id');
const ORDER = { tie: ID, fields: { default: CREATED_AT, createdAt: CREATED_AT, name: NAME, id: ID } };

export async function listDestinations(
  db: Queries,
  secrets: Sealing,
  organizationId: string,
  request: PageRequest,
  filter: Pick<ListFilter, 'name'>,
): Promise<Page<NotificationDestination>> {
  const all = rows(db).where('organization_id', '=', organizationId);
  const query = narrowed(all, filter, { name: 'notification_destination.name' });
  const { content, total } = await orderedPage(query, ORDER, request);
  return { content: content.map((row) => destinationOf(secrets, row)), total };
}

/** Another address, and being enabled again, end the pause after failures. */
export async function updateDestination(
  trx: Queries,
  touch: Touch,
  secrets: Sealing,
  after: NotificationDestination,
): Promise<void> {
  await trx
    .updateTable('notification_destination')
    .set({
      name: after.name,
      enabled: after.isEnabled ? 1 : 0,
      events: after.events.join(' '),
      ...sealedTarget(secrets, after),
      secret_sealed: after.secret === null ? null : secrets.seal(after.secret),
      previous_sealed: after.previous === null ? null : secrets.seal(after.previous.secret),
      previous_until: after.previous === null ? null : after.previous.untilMs,
      paused_until: 0,
    })
    .where('id', '=', after.id)
    .execute();
  touch('notification', after.id);
}

/** With its deliveries. */
export async function deleteDestination(trx: Queries, id: string): Promise<void> {
  await trx.deleteFrom('notification_destination').where('id', '=', id).execute();
}

/**
 * The destinations that receive an event. `organizationId` is '' for events of the installation, and for those of a frontdoor
 * that was deleted in the meantime, which no organization receives.
 */
export async function destinationsFor(
  db: Queries,
  organizationId: string,
  type: NotificationEventType,
): Promise<readonly Pick<NotificationDestination, 'id' | 'type'>[]> {
  if (organizationId === '' && !isOfInstallation(type)) return [];
  let query = db
    .selectFrom('notification_destination')
    .select(['id', 'type', 'events'])
    .where('enabled', '=', 1)
    .where('events', 'like', `%${type}%`);
  if (organizationId !== '') query = query.where('organization_id', '=', organizationId);
  const found = await query.execute();
  return found
    .filter(({ events }) => events.split(' ').includes(type))
    .map(({ id, type: kind }) => ({ id, type: kind }));
}

export async function noteSuccess(db: Queries, id: string, nowMs: number): Promise<void> {
  await db
    .updateTable('notification_destination')
    .set({ failures: 0, paused_until: 0, last_success_at: nowMs, last_problem: null })
    .where('id', '=', id)
    .execute();
}

export async function noteFailure(
  db: Queries,
  { id, failures }: Pick<NotificationDestination, 'id' | 'failures'>,
  problem: string,
  pausedUntilMs: number,
): Promise<void> {
  await db
    .updateTable('notification_destination')
    .set({ failures: failures + 1, paused_until: pausedUntilMs, last_problem: problem })
    .where('id', '=', id)
    .execute();
}

function rows(db: Queries) {
  return db.selectFrom('notification_destination').selectAll();
}

function destinationOf(secrets: Sealing, row: Row): NotificationDestination {
  const sealed = readAlone(`the notification destination ${row.id} of the store`, () =>
    unsealed(secrets, row),
  );
  return {
    id: row.id,
    organizationId: row.organization_id,
    name: row.name,
    type: row.type,
    isEnabled: row.enabled === 1,
    // A type of a newer version is left out.
    events: row.events.split(' ').filter(isNotificationEventType),
    ...(sealed ?? unreadable(row)),
    failures: row.failures,
    lastSuccessAtMs: row.last_success_at,
    lastProblem: row.last_problem,
    createdAtMs: row.created_at,
  };
}

type SealedFields = Pick<NotificationDestination, 'url' | 'addresses' | 'secret' | 'previous'>;

function unreadable({ type }: Row): SealedFields {
  return { url: type === 'webhook' ? UNREADABLE_URL : null, addresses: [], secret: null, previous: null };
}

function sealedTarget(
  secrets: Pick<Secrets, 'seal'>,
  { url, addresses }: Pick<NotificationDestination, 'url' | 'addresses'>,
) {
  return {
    url_sealed: url === null ? null : secrets.seal(url),
    addresses_sealed: addresses.length === 0 ? null : secrets.seal(addresses.join(' ')),
  };
}

function unsealed(secrets: Sealing, row: Row): SealedFields {
  const { previous_sealed: previous, previous_until: untilMs, addresses_sealed: addresses } = row;
  return {
    url: row.url_sealed === null ? null : secrets.unseal(row.url_sealed),
    addresses: addresses === null ? [] : secrets.unseal(addresses).split(' '),
    secret: row.secret_sealed === null ? null : secrets.unseal(row.secret_sealed),
    previous: previous === null || untilMs === null ? null : { secret: secrets.unseal(previous), untilMs },
  };
}
