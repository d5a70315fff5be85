/** How long and how much of a frontdoor's request log is kept: the defaults, unless an operator changed them. */
import { lockedForUpdate, type Queries } from '../../store/mod.ts';

export interface RequestLogSetting {
  /** False: requests are not logged, and existing entries are removed. */
  readonly isEnabled: boolean;
  readonly keptSeconds: number;
  readonly maxEntries: number;
  readonly maxBytes: number;
}

export const DEFAULT_REQUEST_LOG: RequestLogSetting = {
  isEnabled: true,
  keptSeconds: 86_400,
  maxEntries: 100_000,
  maxBytes: 64 * 1_048_576,
};

export async function requestLogSetting(db: Queries, frontdoorId: string): Promise<RequestLogSetting> {
  return (await requestLogSettings(db, [frontdoorId])).get(frontdoorId) ?? DEFAULT_REQUEST_LOG;
}

/** Locks the setting until the transaction ends. A setting may have no row, so the row of its frontdoor is locked. */
export async function lockedRequestLogSetting(trx: Queries, frontdoorId: string): Promise<RequestLogSetting> {
  await lockedForUpdate(
    trx,
    trx.selectFrom('frontdoor').select('id').where('id', '=', frontdoorId),
  ).executeTakeFirst();
  return requestLogSetting(trx, frontdoorId);
}

/** Returns those that differ from the defaults. */
export async function requestLogSettings(
  db: Queries,
  frontdoorIds: readonly string[],
): Promise<ReadonlyMap<string, RequestLogSetting>> {
  const rows = await db
    .selectFrom('request_log_setting')
    .selectAll()
    .where('frontdoor_id', 'in', frontdoorIds)
    .execute();
  return new Map(
    rows.map(({ frontdoor_id, enabled, kept_seconds, max_entries, max_bytes }) => [
      frontdoor_id,
      {
        isEnabled: enabled === 1,
        keptSeconds: kept_seconds,
        maxEntries: max_entries,
        maxBytes: max_bytes,
      },
    ]),
  );
}

export async function putRequestLogSetting(
  trx: Queries,
  frontdoorId: string,
  { isEnabled, keptSeconds, maxEntries, maxBytes }: RequestLogSetting,
): Promise<void> {
  const columns = {
    enabled: isEnabled ? 1 : 0,
    kept_seconds: keptSeconds,
    max_entries: maxEntries,
    max_bytes: maxBytes,
  };
  await trx
    .insertInto('request_log_setting')
    .values({ frontdoor_id: frontdoorId, ...columns })
    .onConflict((conflict) => conflict.column('frontdoor_id').doUpdateSet(columns))
    .execute();
}
