/**
 * What guards a host, put together once from the share's rules and the providers as they are now. A provider that is
 * unknown, disabled, or of another frontdoor guards without letting anybody in.
 */
import type { GatewayHost } from '../circuits/upstream.ts';
import type { Guard } from './caller.ts';
import type { Provider } from './provider.ts';

export interface HostGuard extends Guard {
  /** Enabled ones, by what they take. */
  readonly logins: readonly Provider[];
  readonly keys: readonly Provider[];
  readonly headerKeys: readonly Provider[];
  readonly queryKeys: readonly Provider[];
  readonly bearerKeys: readonly Provider[];
  readonly tokens: readonly Provider[];
  /** One of them would take tokens, and the keys of its issuer are not known: whose token it is cannot be told. */
  readonly hasUnknownIssuer: boolean;
  /** Password hashes by name. */
  readonly basicUsers: ReadonlyMap<string, readonly string[]>;
  /** A browser would log in here, were the provider there. */
  readonly hasLogins: boolean;
  /** There is nothing that a caller could show. */
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
    ({ record, tokens: known }) => record.type === 'OIDC' && known === null,
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
