/** How many recipients each organization has sent mail to in the present hour, over all control planes. */
import { sql } from 'kysely';
import type { Queries } from '../../store/mod.ts';

const HOUR_MS = 3_600_000;
/** As many as three full destinations that get a message every six minutes. */
export const MAX_RECIPIENTS_AN_HOUR = 300;

/** Returns undefined if the organization may send to so many, who count from now on, or the time of the next hour. */
export async function takeMailAllowance(
  db: Queries,
  organizationId: string,
  recipients: number,
  nowMs: number,
): Promise<number | undefined> {
  const hour = Math.floor(nowMs / HOUR_MS);
  // A control plane whose clock is ahead may be in the next hour already: the two must not begin again in turns.
  const isPresent = sql<boolean>`mail_usage.hour in (${hour}, ${hour + 1})`;
  const before = sql<number>`case when ${isPresent} then mail_usage.recipients else 0 end`;
  const taken = await db
    .insertInto('mail_usage')
    .values({ organization_id: organizationId, hour, recipients })
    .onConflict((conflict) =>
      conflict
        .column('organization_id')
        .doUpdateSet({
          hour: sql<number>`case when ${isPresent} then mail_usage.hour else cast(${hour} as bigint) end`,
          recipients: sql<number>`${before} + ${recipients}`,
        })
        .where(sql<boolean>`${before} + ${recipients} <= ${MAX_RECIPIENTS_AN_HOUR}`),
    )
    .returning('hour')
    .executeTakeFirst();
  return taken === undefined ? (hour + 1) * HOUR_MS : undefined;
}

/** After an attempt that reached nobody. */
export async function returnMailAllowance(
  db: Queries,
  organizationId: string,
  recipients: number,
  takenAtMs: number,
): Promise<void> {
  await db
    .updateTable('mail_usage')
    .set((eb) => ({ recipients: eb('recipients', '-', recipients) }))
    .where('organization_id', '=', organizationId)
    .where('hour', '=', Math.floor(takenAtMs / HOUR_MS))
    .execute();
}
