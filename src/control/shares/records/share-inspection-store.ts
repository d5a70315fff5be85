/** The shares whose requests are recorded, with the size limit and the end. */
import type { GatewayInspection } from '#domain/gateway-shapes';
import type { Queries, Touch } from '../../store/mod.ts';

/** Returns undefined if recording was never enabled, or has ended. */
export async function findInspection(
  db: Queries,
  shareId: string,
  nowMs: number,
): Promise<GatewayInspection | undefined> {
  const row = await db
    .selectFrom('share_inspection')
    .selectAll()
    .where('share_id', '=', shareId)
    .executeTakeFirst();
  if (row === undefined || row.until_at <= nowMs) return undefined;
  return { maxBodyBytes: row.max_body_bytes, untilMs: row.until_at };
}

/** Undefined ends it. Gateways are notified with the share. */
export async function putInspection(
  trx: Queries,
  touch: Touch,
  shareId: string,
  wanted: GatewayInspection | undefined,
): Promise<void> {
  touch('share', shareId);
  if (wanted === undefined) {
    await trx.deleteFrom('share_inspection').where('share_id', '=', shareId).execute();
    return;
  }
  const columns = { max_body_bytes: wanted.maxBodyBytes, until_at: wanted.untilMs };
  await trx
    .insertInto('share_inspection')
    .values({ share_id: shareId, ...columns })
    .onConflict((conflict) => conflict.column('share_id').doUpdateSet(columns))
    .execute();
}
