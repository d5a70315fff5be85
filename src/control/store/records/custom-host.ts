/** Names of shares below custom frontends, read for many shares at once. */
import type { Queries } from '../engine/store.ts';

export interface CustomHost {
  readonly customFrontendId: string;
  /** `<token>.<hostname>`, lower case. */
  readonly host: string;
  /** The guards of the share there: its own providers if it has any, otherwise the custom frontend's. */
  readonly authProviderIds: readonly string[];
}

export interface CustomZone {
  readonly id: string;
  readonly hostname: string;
  readonly frontendId: string;
  readonly authProviderIds: readonly string[];
}

/** Returns custom frontends by frontdoor, ordered by age. */
export async function customFrontendsOf(
  db: Queries,
  frontdoorIds: readonly string[],
): Promise<ReadonlyMap<string, readonly CustomZone[]>> {
  const ids = [...new Set(frontdoorIds)];
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('custom_frontend')
    .leftJoin(
      'custom_frontend_auth_provider',
      'custom_frontend_auth_provider.custom_frontend_id',
      'custom_frontend.id',
    )
    .select([
      'custom_frontend.id',
      'custom_frontend.frontdoor_id',
      'custom_frontend.hostname',
      'custom_frontend.frontend_id',
      'custom_frontend_auth_provider.auth_provider_id',
    ])
    .where('custom_frontend.frontdoor_id', 'in', ids)
    .orderBy('custom_frontend.created_at')
    .orderBy('custom_frontend.id')
    .orderBy('custom_frontend_auth_provider.position')
    .execute();
  const zones = new Map<string, CustomZone[]>();
  for (const group of Map.groupBy(rows, (row) => row.id).values()) {
    const { id, frontdoor_id: frontdoorId, hostname, frontend_id: frontendId } = group[0]!;
    const authProviderIds = group.flatMap((row) => row.auth_provider_id ?? []);
    const zone = { id, hostname, frontendId, authProviderIds };
    const known = zones.get(frontdoorId);
    if (known === undefined) zones.set(frontdoorId, [zone]);
    else known.push(zone);
  }
  return zones;
}

export function customHostsOf(
  share: { readonly token: string; readonly frontdoor_id: string },
  frontends: readonly { readonly id: string }[],
  authProviderIds: readonly string[],
  zones: ReadonlyMap<string, readonly CustomZone[]> | undefined,
): CustomHost[] {
  return (zones?.get(share.frontdoor_id) ?? [])
    .filter((zone) => frontends.some(({ id }) => id === zone.frontendId))
    .map((zone) => ({
      customFrontendId: zone.id,
      host: `${share.token}.${zone.hostname}`,
      authProviderIds: authProviderIds.length > 0 ? authProviderIds : zone.authProviderIds,
    }));
}
