/** A share at one of its hosts: the providers that guard it there, and the host that receives its log-ins. */
import { DEFAULT_SESSION_LIMITS, type SessionLimits } from '#domain/access';
import type { ShareCatalog } from '../catalog/share-catalog.ts';

export interface GuardedHost {
  readonly shareId: string;
  readonly frontdoorId: string;
  readonly host: string;
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
  const authProviderIds = share.frontends.some((frontend) => frontend.host === host)
    ? share.authProviderIds
    : share.customHosts.find((custom) => custom.host === host)?.authProviderIds;
  if (authProviderIds === undefined) return undefined;
  const session = share.rules?.session ?? DEFAULT_SESSION_LIMITS;
  return { shareId, frontdoorId: share.frontdoorId, host, authProviderIds, session };
}

/** Returns `https://host[:port]` in the form of browsers. */
export function originOf(host: string, port: number): string {
  return port === 443 ? `https://${host}` : `https://${host}:${port}`;
}
