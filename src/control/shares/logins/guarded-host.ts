/** A share at one of its hosts: the providers that guard it there, and the host that receives its log-ins. */
import { loginHostOf } from '#domain';
import { DEFAULT_SESSION_LIMITS, type SessionLimits } from '#domain/access';
import type { ShareCatalog } from '../catalog/share-catalog.ts';

export interface GuardedHost {
  readonly shareId: string;
  readonly frontdoorId: string;
  readonly host: string;
  /** `oauth.<zone>`, to which identity providers redirect. For a domain it is that of the share's oldest frontend. */
  readonly loginHost: string;
  readonly authProviderIds: readonly string[];
  readonly session: SessionLimits;
}

/** Returns undefined if there is no such public share, or not at this host. */
export function guardedHost(
  catalog: Pick<ShareCatalog, 'get'>,
  shareId: string,
  host: string,
): GuardedHost | undefined {
  const share = catalog.get(shareId);
  if (share?.shareMode !== 'public') return undefined;
  const custom = share.customHosts.find((each) => each.host === host);
  const isOfFrontend = share.frontends.some((frontend) => frontend.host === host);
  const authProviderIds = isOfFrontend ? share.authProviderIds : custom?.authProviderIds;
  if (authProviderIds === undefined) return undefined;
  const isDomain = !isOfFrontend && custom?.customFrontendId === null;
  const loginHost = loginHostOf(isDomain ? (share.frontends[0]?.host ?? host) : host);
  const session = share.rules?.session ?? DEFAULT_SESSION_LIMITS;
  return { shareId, frontdoorId: share.frontdoorId, host, loginHost, authProviderIds, session };
}

/** Returns `https://host[:port]` in the form of browsers. */
export function originOf(host: string, port: number): string {
  return port === 443 ? `https://${host}` : `https://${host}:${port}`;
}
