/** Notification events for the collector of the installation, which keeps them until it has accepted them, or they are old. */
import { sql } from 'kysely';
import type { Queries } from '../../store/mod.ts';

export interface ExportedEvent {
  readonly id: string;
  /** '' for the installation. */
  readonly organizationId: string;
  readonly type: string;
  readonly atMs: number;
  /** JSON. */
  readonly data: string;
}

/** Whether events are kept for a collector. */
export async function hasCollector(db: Queries): Promise<boolean> {
  return (await db.selectFrom('event_export').select('id').executeTakeFirst()) !== undefined;
}

/** The oldest first. */
export async function eventsToExport(db: Queries, most: number): Promise<readonly ExportedEvent[]> {
  const found = await db
    .selectFrom('notification_event')
    .selectAll()
    .where('unexported', '=', 1)
    .orderBy('at')
    .orderBy('id')
    .limit(most)
    .execute();
  return found.map(({ id, organization_id: organizationId, type, at: atMs, data }) => ({
    id,
    organizationId,
    type,
    atMs,
    data,
  }));
}

/** `ids` undefined: all. */
export async function noteEventsExported(trx: Queries, ids: readonly string[] | undefined): Promise<void> {
  if (ids?.length === 0) return;
  let query = trx.updateTable('notification_event').set({ unexported: 0 }).where('unexported', '=', 1);
  if (ids !== undefined) query = query.where('id', 'in', ids);
  await query.execute();
}

export async function eventExportLag(
  db: Queries,
): Promise<{ readonly waiting: number; readonly oldestAtMs: number | undefined }> {
  const { waiting, oldest } = await db
    .selectFrom('notification_event')
    .select([
      sql<number | string>`count(*)`.as('waiting'),
      sql<number | string | null>`min(notification_event.at)`.as('oldest'),
    ])
    .where('unexported', '=', 1)
    .executeTakeFirstOrThrow();
  return { waiting: Number(waiting), oldestAtMs: oldest === null ? undefined : Number(oldest) };
}
