/**
 * The use that gateways report: last use of keys and sessions, and custom frontends for which they have a
 * certificate. Times never go backwards or beyond now, whatever a gateway reports. Equal seconds are written with
 * one statement.
 */
import type { GatewayUsage } from '#domain/gateway-shapes';
import type { Queries, Store } from '../../store/mod.ts';

const SECOND_MS = 1_000;
const IDS_A_STATEMENT = 500;
/** Gateways report every half minute, so one report may be lost. */
const CERTIFIED_FOR_MS = 75_000;
/** A zone that was reported within this time is not written again. */
const CERTIFIED_AGAIN_MS = 20_000;

export async function takeGatewayUsage(
  store: Pick<Store, 'transaction'>,
  usage: GatewayUsage,
  nowMs: number,
): Promise<void> {
  await store.transaction(async (trx) => {
    await useKeys(trx, usage.keys, nowMs);
    await useSessions(trx, usage.sessions, nowMs);
    await certify(trx, usage.certifiedZones, nowMs);
  });
}

/** A zone that no gateway has reported for long is served by none. */
export async function expireCertifiedZones(db: Queries, nowMs: number): Promise<void> {
  await db
    .updateTable('hostname_claim')
    .set({ status: 'PENDING' })
    .where('status', '=', 'ACTIVE')
    .where('certified_at', '<', nowMs - CERTIFIED_FOR_MS)
    .execute();
}

async function useKeys(trx: Queries, used: GatewayUsage['keys'], nowMs: number): Promise<void> {
  const byProvider = Map.groupBy(used, ({ providerId }) => providerId);
  // Sorted, so that reports of two gateways about the same keys do not deadlock.
  for (const providerId of [...byProvider.keys()].sort()) {
    for (const [atMs, keys] of bySecond(byProvider.get(providerId)!, nowMs)) {
      for (const names of chunks(keys.map(({ name }) => name))) {
        await trx
          .updateTable('auth_provider_key')
          .set({ last_used_at: atMs })
          .where('auth_provider_id', '=', providerId)
          .where('name', 'in', names)
          // A key that replaced another one of the same name was not used before it existed.
          .where('created_at', '<=', atMs)
          .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', atMs)]))
          .execute();
      }
    }
  }
}

async function useSessions(trx: Queries, used: GatewayUsage['sessions'], nowMs: number): Promise<void> {
  for (const [atMs, sessions] of bySecond(used, nowMs)) {
    for (const ids of chunks(sessions.map(({ id }) => id))) {
      await trx
        .updateTable('login_session')
        .set({ last_used_at: atMs })
        .where('id', 'in', ids)
        .where('last_used_at', '<', atMs)
        .execute();
    }
  }
}

/** A reporting gateway knows every custom frontend that is served, so none of them remains NEW. */
async function certify(trx: Queries, zones: readonly string[], nowMs: number): Promise<void> {
  await trx
    .updateTable('hostname_claim')
    .set({ status: 'PENDING' })
    .where('status', '=', 'NEW')
    .where('proof', '!=', 'PENDING')
    .where('share_id', 'is', null)
    .execute();
  for (const hostnames of chunks(zones)) {
    await trx
      .updateTable('hostname_claim')
      .set({ status: 'ACTIVE', certified_at: nowMs })
      .where('hostname', 'in', hostnames)
      .where('proof', '!=', 'PENDING')
      .where('share_id', 'is', null)
      .where((eb) =>
        eb.or([
          eb('status', '!=', 'ACTIVE'),
          eb('certified_at', 'is', null),
          eb('certified_at', '<', nowMs - CERTIFIED_AGAIN_MS),
        ]),
      )
      .execute();
  }
}

/** Returns the latest time of each second, ascending. */
function bySecond<T extends { readonly lastUsedAtMs: number }>(
  used: readonly T[],
  nowMs: number,
): [number, T[]][] {
  const groups = Map.groupBy(used, ({ lastUsedAtMs }) =>
    Math.floor(Math.min(lastUsedAtMs, nowMs) / SECOND_MS),
  );
  return [...groups]
    .sort(([a], [b]) => a - b)
    .map(([, group]) => {
      const latest = group.reduce((most, { lastUsedAtMs }) => Math.max(most, lastUsedAtMs), 0);
      return [Math.min(latest, nowMs), group];
    });
}

function chunks(values: readonly string[]): string[][] {
  const unique = [...new Set(values)].sort();
  const whole: string[][] = [];
  for (let at = 0; at < unique.length; at += IDS_A_STATEMENT)
    whole.push(unique.slice(at, at + IDS_A_STATEMENT));
  return whole;
}
