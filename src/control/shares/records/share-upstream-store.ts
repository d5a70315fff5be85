/** Stored upstream settings of shares. A share with the defaults has no row. */
import { invalidValue } from '#domain';
import { isPublicStream } from '#domain/backend-modes';
import {
  DEFAULT_UPSTREAM,
  gatewayOnlyFields,
  httpOnlyFields,
  isSameUpstream,
  storedUpstream,
  type ShareUpstream,
} from '#domain/upstream';
import type { Queries, Touch } from '../../store/mod.ts';

/** Settings that cannot be read are shown as the defaults. Until they are set again, gateways close the share. */
export async function findShareUpstream(db: Queries, shareId: string): Promise<ShareUpstream> {
  const rows = db.selectFrom('share_upstream').select('data').where('share_id', '=', shareId);
  const row = await rows.executeTakeFirst();
  return (row === undefined ? undefined : storedUpstream(row.data)) ?? DEFAULT_UPSTREAM;
}

/** The settings of the shares that an environment hosts, by share id. Those with the defaults are left out. */
export async function upstreamsOfEnvironment(
  db: Queries,
  environmentId: string,
): Promise<ReadonlyMap<string, ShareUpstream>> {
  const rows = await db
    .selectFrom('share_upstream')
    .innerJoin('share', 'share.id', 'share_upstream.share_id')
    .select(['share_upstream.share_id', 'share_upstream.data'])
    .where('share.environment_id', '=', environmentId)
    .execute();
  return new Map(rows.map(({ share_id, data }) => [share_id, storedUpstream(data) ?? DEFAULT_UPSTREAM]));
}

/** Gateways and the agent are notified of a changed share. */
export async function putShareUpstream(
  trx: Queries,
  touch: Touch,
  shareId: string,
  wanted: ShareUpstream,
  nowMs: number,
): Promise<void> {
  touch('share', shareId);
  if (isSameUpstream(wanted, DEFAULT_UPSTREAM)) {
    await trx.deleteFrom('share_upstream').where('share_id', '=', shareId).execute();
    return;
  }
  await checkReach(trx, shareId, wanted);
  const columns = { data: JSON.stringify(wanted), updated_at: nowMs };
  await trx
    .insertInto('share_upstream')
    .values({ share_id: shareId, ...columns })
    .onConflict((conflict) => conflict.column('share_id').doUpdateSet(columns))
    .execute();
}

/** Refuses what would have no effect. */
async function checkReach(db: Queries, shareId: string, wanted: ShareUpstream): Promise<void> {
  const [ofGateways] = gatewayOnlyFields(wanted);
  const [ofHttp] = httpOnlyFields(wanted);
  if (ofGateways === undefined && ofHttp === undefined) return;
  const share = db.selectFrom('share').select(['share_mode', 'backend_mode']).where('id', '=', shareId);
  const row = await share.executeTakeFirst();
  if (row === undefined) return;
  if (ofGateways !== undefined && row.share_mode === 'private')
    throw invalidValue(ofGateways, 'setting of a public share (callers of a private share use no gateway)');
  if (ofHttp !== undefined && isPublicStream(row.share_mode, row.backend_mode))
    throw invalidValue(ofHttp, 'setting of a share that speaks HTTP (gateways do not read what others send)');
}
