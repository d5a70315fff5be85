/**
 * Finds the share of a request with one look-up by canonical host. There is no default share. On TLS the server
 * name must be the same host, so that a connection made for one share never carries requests for another; TLS
 * connections of trusted proxies carry requests of many clients.
 */
import type { ClientProof } from '../certificates/client-certificate.ts';
import { FAILURES, failureOfUnreadable, type Failure } from '../answers/failure-table.ts';
import { canonicalHost } from '../http/host-policy.ts';
import type { ShareRouteTable } from '../shares/share-routes.ts';
import type { GatewayHost, RoutePool } from './upstream.ts';

/** Where a connection comes from, before its first request. */
export interface ConnectionOrigin {
  readonly address: string;
  /** Whether the client uses TLS, here or at a proxy. */
  readonly isSecure: boolean;
  /** Whether the other end is a trusted proxy, whose headers name the client of each request. */
  readonly isTrustedProxy: boolean;
  readonly acceptedAtMs: number;
}

export interface ClientFacts extends ClientProof, ConnectionOrigin {
  /** The host (as the client sent it) that this connection serves alone; undefined: it may carry requests for any host. */
  readonly onlyHost: string | undefined;
  /** Whether it sent plain HTTP to a port that speaks TLS. */
  readonly isMistaken: boolean;
  /** By default its requests are HTTP/1.1. */
  readonly isHttp2?: boolean | undefined;
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
  if (!isForName(client, name)) return { host, failure: FAILURES.misdirected };
  const { unreadable } = host.route.share;
  if (unreadable !== undefined) return { host, failure: failureOfUnreadable(unreadable) };
  return { host, failure: undefined };
}

/** Whether the connection may carry requests for this host. */
export function isForName({ onlyHost }: ClientFacts, name: string): boolean {
  return onlyHost === undefined || canonicalHost(onlyHost) === name;
}

/** The client's address. An IPv4 address has its own form even on a dual-stack port. */
export function addressOf(socket: { readonly remoteAddress?: string | undefined }): string {
  const address = socket.remoteAddress ?? 'unknown';
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}
