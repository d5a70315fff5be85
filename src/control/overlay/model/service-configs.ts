/**
 * The configs of a hosted service in OpenZiti's form, derived from its endpoint: `host.v1` for its host, and `intercept.v1` for
 * those that may dial it by a grant, so that tunnelers resolve and capture an address of its own.
 */
import { hostConfig, interceptConfig } from './endpoint-config.ts';
import type { ProjectedService } from './service.ts';

export interface ServiceRights {
  readonly mayBind: boolean;
  readonly mayDial: boolean;
}

const HOST = 'host.v1';
const INTERCEPT = 'intercept.v1';

/** Returns those of an identity with these rights, by type. Only the host sees the address of the private server. */
function configsOf(
  { name, openTo, endpoint }: ProjectedService,
  { mayBind, mayDial }: ServiceRights,
  domain: string | undefined,
): ReadonlyMap<string, Record<string, unknown>> {
  const configs = new Map<string, Record<string, unknown>>();
  if (endpoint === undefined) return configs;
  const host = mayBind ? hostConfig(endpoint) : undefined;
  if (host !== undefined) configs.set(HOST, host);
  if (mayDial && openTo === 'grants' && domain !== undefined)
    configs.set(INTERCEPT, interceptConfig(name, endpoint, domain));
  return configs;
}

/** Ids of the configs that an identity sees. `domain`: see `serviceConfigs`. */
export function serviceConfigIds(
  service: ProjectedService,
  rights: ServiceRights,
  domain: string | undefined,
): readonly string[] {
  return Array.from(configsOf(service, rights, domain).keys(), (type) => `${type}:${service.id}`);
}

/**
 * Returns the configs of the requested types (or `all`), by type. `domain` is that of the addresses, such as `ziti`;
 * undefined: no service has an address.
 */
export function serviceConfigs(
  service: ProjectedService,
  rights: ServiceRights,
  domain: string | undefined,
  requested: readonly string[],
): Record<string, unknown> {
  const isWanted = (type: string): boolean => requested.includes('all') || requested.includes(type);
  return Object.fromEntries([...configsOf(service, rights, domain)].filter(([type]) => isWanted(type)));
}
