/**
 * The configs of a share in OpenZiti's form, derived from the share: `host.v1` for the environment that hosts it, and
 * `intercept.v1` for those that may dial it, so that tunnelers resolve and capture an address of its own.
 */
import { parseShareTarget } from '#domain';
import { hostConfig, interceptConfig } from './share-endpoint-config.ts';
import type { Service } from './overlay-model.ts';

export interface ShareRights {
  readonly mayBind: boolean;
  readonly mayDial: boolean;
}

const HOST = 'host.v1';
const INTERCEPT = 'intercept.v1';

/** Returns the types that an identity with these rights sees. Only hosts see the address of the private service. */
function typesOf(service: Service, { mayBind, mayDial }: ShareRights, domain: string | undefined): string[] {
  const isIntercepted = mayDial && service.shareMode === 'private' && domain !== undefined;
  const target = parseShareTarget(service.target);
  const isHosted = mayBind && target !== undefined && hostConfig(target) !== undefined;
  return [...(isHosted ? [HOST] : []), ...(isIntercepted ? [INTERCEPT] : [])];
}

/** Ids of the configs that an identity sees. `domain`: see `shareConfigs`. */
export function shareConfigIds(
  service: Service,
  rights: ShareRights,
  domain: string | undefined,
): readonly string[] {
  return typesOf(service, rights, domain).map((type) => `${type}:${service.id}`);
}

/**
 * Returns the configs of the requested types (or `all`), by type. `domain` is that of the addresses, such as `ziti`;
 * undefined: no share has an address.
 */
export function shareConfigs(
  service: Service,
  rights: ShareRights,
  domain: string | undefined,
  requested: readonly string[],
): Record<string, unknown> {
  const target = parseShareTarget(service.target);
  const types = typesOf(service, rights, domain);
  if (target === undefined) return {};
  const contents: Readonly<Record<string, () => unknown>> = {
    [HOST]: () => hostConfig(target),
    [INTERCEPT]: () => interceptConfig(service.token, target, domain!),
  };
  const wanted = types.filter((type) => requested.includes('all') || requested.includes(type));
  return Object.fromEntries(wanted.map((type) => [type, contents[type]!()]));
}
