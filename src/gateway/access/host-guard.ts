/**
 * What guards a host: computed once from the share's rules and the current providers. A provider that is unknown,
 * disabled, or of another frontdoor guards the host without admitting anybody.
 */
import { acceptsTokens } from '#domain/provider-types';
import type { GatewayHost } from '../circuits/upstream.ts';
import type { Guard } from './caller.ts';
import type { Provider } from './provider.ts';

export interface HostGuard extends Guard {
  /** Enabled providers by the kind of credential they accept. */
  readonly logins: readonly Provider[];
  readonly keys: readonly Provider[];
  readonly headerKeys: readonly Provider[];
  readonly queryKeys: readonly Provider[];
  readonly bearerKeys: readonly Provider[];
  readonly tokens: readonly Provider[];
  /**
   * One of the providers accepts tokens, but the keys of its issuer are not known, so the owner of a token cannot
   * be determined.
   */
  readonly hasUnknownIssuer: boolean;
  /** Password hashes by user name. */
  readonly basicUsers: ReadonlyMap<string, readonly string[]>;
  /** Whether people could prove here who they are if the provider were available: by a log-in, or a token. */
  readonly hasLogins: boolean;
  /** Whether no credential at all could be accepted. */
  readonly isShut: boolean;
  readonly readsAuthorization: boolean;
}

export function guardOf(host: GatewayHost, providers: ReadonlyMap<string, Provider>): HostGuard {
  const { share } = host.route;
  const known = host.authProviderIds.map((id) => providers.get(id));
  const enabled = known.filter(
    (provider) =>
      provider !== undefined && provider.record.enabled && provider.record.frontdoorId === share.frontdoorId,
  ) as Provider[];
  const keys = enabled.filter(({ placement }) => placement !== undefined);
  const tokens = enabled.filter((provider) => provider.isLogin && provider.tokens !== null);
  const hasUnknownIssuer = enabled.some(
    ({ record, tokens: known }) => acceptsTokens(record.type) && known === null,
  );
  const placed = (placement: Provider['placement']): Provider[] =>
    keys.filter((provider) => provider.placement === placement);
  const basicUsers = new Map<string, readonly string[]>();
  for (const { name, passwordHash } of share.rules?.basicAuth ?? [])
    basicUsers.set(name, [...(basicUsers.get(name) ?? []), passwordHash]);
  const logins = enabled.filter(({ isLogin }) => isLogin);
  return {
    logins,
    keys,
    headerKeys: placed('header'),
    queryKeys: placed('query'),
    bearerKeys: placed('bearer'),
    tokens,
    hasUnknownIssuer,
    basicUsers,
    hasLogins: known.some((provider) => provider === undefined || provider.isLogin),
    isShut: enabled.length === 0 && basicUsers.size === 0,
    readsAuthorization:
      placed('bearer').length > 0 || tokens.length > 0 || hasUnknownIssuer || basicUsers.size > 0,
  };
}
