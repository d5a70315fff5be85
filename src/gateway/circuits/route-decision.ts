/**
 * Finds the share of a request with one look-up by canonical host. There is no default share. On TLS the server
 * name must be the same host, so that a connection made for one share never carries requests for another.
 */
import type { ClientProof } from '../certificates/client-certificate.ts';
import { FAILURES, failureOfUnreadable, type Failure } from '../answers/failure-table.ts';
import { canonicalHost } from '../http/host-policy.ts';
import type { ShareRouteTable } from '../shares/share-routes.ts';
import type { GatewayHost, RoutePool } from './upstream.ts';

export interface ClientFacts extends ClientProof {
  readonly address: string;
  readonly isSecure: boolean;
  /** TLS server name as the client sent it; undefined on plain connections. */
  readonly serverName: string | undefined;
  readonly acceptedAtMs: number;
}

export type RouteDecision =
  | { readonly host: GatewayHost; readonly failure: undefined }
  | { readonly host: GatewayHost | undefined; readonly failure: Failure };

export function decideRoute(
  table: ShareRouteTable<RoutePool>,
  name: string,
  client: ClientFacts,
): RouteDecision {
  const host = table.find(name);
  if (host === undefined)
    return { host, failure: table.loaded ? FAILURES.unknownHost : FAILURES.noShareTable };
  if (client.isSecure && !isForName(client, name)) return { host, failure: FAILURES.misdirected };
  const { unreadable } = host.route.share;
  if (unreadable !== undefined) return { host, failure: failureOfUnreadable(unreadable) };
  return { host, failure: undefined };
}

/** Whether the TLS connection was made for this host. */
export function isForName(client: ClientFacts, name: string): boolean {
  return canonicalHost(client.serverName ?? '') === name;
}
