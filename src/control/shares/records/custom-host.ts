/** Names of shares below custom frontends, and their own domains. */
import type { CustomHost } from '#domain';

/** A custom frontend that is served. */
export interface CustomZone {
  readonly id: string;
  readonly hostname: string;
  readonly frontendId: string;
  readonly authProviderIds: readonly string[];
}

/** Returns the names of a public share below those custom frontends whose frontend serves it, and its domains, in their order. */
export function customHostsOf(
  token: string,
  frontends: readonly { readonly id: string }[],
  authProviderIds: readonly string[],
  {
    customZones,
    domains,
  }: { readonly customZones: readonly CustomZone[]; readonly domains: readonly string[] },
): CustomHost[] {
  const belowZones = customZones
    .filter((zone) => frontends.some(({ id }) => id === zone.frontendId))
    .map((zone) => ({
      customFrontendId: zone.id,
      host: `${token}.${zone.hostname}`,
      authProviderIds: authProviderIds.length > 0 ? authProviderIds : zone.authProviderIds,
    }));
  // A private share has no frontend and is served nowhere.
  const own = frontends.length === 0 ? [] : domains;
  return [...belowZones, ...own.map((host) => ({ customFrontendId: null, host, authProviderIds }))];
}

/** A hostname, and all names above it of two labels or more. */
export function namesFrom(hostname: string): string[] {
  const labels = hostname.split('.');
  return labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'));
}
