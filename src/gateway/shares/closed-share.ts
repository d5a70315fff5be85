/**
 * Handles entries of the share feed that cannot be read: such a share is closed, because its rules are unknown, and
 * such a provider admits nobody.
 */
import type { FeedList, GatewayShare, ServedShare } from '#domain/gateway-shapes';

export interface FeedProblem {
  readonly kind: FeedList | 'replay' | 'event';
  /** Id of the entry; '' if it cannot be read. */
  readonly id: string;
  /** Name of a share, if it can be read. */
  readonly token?: string;
  /** Path of the invalid field in the entry. */
  readonly field: string;
}

/** Keeps the share's names, which answer that it is closed. */
export function closedShare(
  share: Pick<GatewayShare, 'id' | 'token' | 'hosts' | 'frontdoorId' | 'environmentId' | 'updatedAtMs'>,
  unreadable: string,
): ServedShare {
  const { id, token, hosts, frontdoorId, environmentId, updatedAtMs } = share;
  return {
    id,
    token,
    hosts: [...new Set(hosts)],
    frontdoorId,
    environmentId,
    updatedAtMs,
    authProviderIds: [],
    customHosts: [],
    rules: null,
    inspection: null,
    unreadable,
  };
}
