/** Deliveries for tests, written as the queue writes them. */
import { randomUUID } from 'node:crypto';
import type { Queries } from '../../store/mod.ts';

/** Returns the id of a delivery that has failed. */
export async function failedDelivery(db: Queries, destinationId: string): Promise<string> {
  const id = randomUUID();
  const eventId = randomUUID();
  const event = { id: eventId, organization_id: '', type: 'share.failing', at: 1, data: '{"total":0}' };
  await db.insertInto('notification_event').values(event).execute();
  await db
    .insertInto('notification_delivery')
    .values({
      id,
      destination_id: destinationId,
      event_id: eventId,
      state: 'FAILED',
      attempts: 10,
      due_at: 1,
      created_at: 1,
      attempted_at: 1,
      status: 500,
      problem: 'the server answered 500',
    })
    .execute();
  return id;
}
