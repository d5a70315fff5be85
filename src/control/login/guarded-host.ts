/** A share at one of its hosts: who guards it there, and which host takes its log-ins in. */
import { DEFAULT_SESSION_LIMITS, type SessionLimits } from '#domain';
import type { OverlayModel } from '../model/mod.ts';

export interface GuardedHost {
  readonly shareId: string;
  readonly frontdoorId: string;
  readonly host: string;
  readonly authProviderIds: readonly string[];
  readonly session: SessionLimits;
}

/** Undefined: no such public share, or not at this host. */
export function guardedHost(
  model: Pick<OverlayModel, 'service'>,
  shareId: string,
  host: string,
): GuardedHost | undefined {
  const service = model.service(shareId);
  if (service?.shareMode !== 'public') return undefined;
  const authProviderIds = service.hosts.includes(host)
    ? service.authProviderIds
    : service.customHosts.find((custom) => custom.host === host)?.authProviderIds;
  if (authProviderIds === undefined) return undefined;
  const session = service.rules?.session ?? DEFAULT_SESSION_LIMITS;
  return { shareId, frontdoorId: service.frontdoorId, host, authProviderIds, session };
}

/** `https://host[:port]`, as browsers write it. */
export function originOf(host: string, port: number): string {
  return port === 443 ? `https://${host}` : `https://${host}:${port}`;
}
