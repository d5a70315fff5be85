/**
 * Where a request goes and whether it may: one look-up of one entry by canonical host. There is no default share. On
 * TLS the server name must lead to the same entry, so that a connection made for one share never carries another's.
 */
import { FAILURES, type Failure } from './failure-table.ts';
import { canonicalHost } from './host-policy.ts';
import type { ShareTable } from './share-table.ts';
import type { GatewayRoute, RoutePool } from './upstream.ts';

export interface ClientFacts {
  readonly address: string;
  readonly isSecure: boolean;
  /** TLS server name as the client sent it; undefined on plain connections. */
  readonly serverName: string | undefined;
  readonly acceptedAtMs: number;
}

export type RouteDecision =
  | { readonly route: GatewayRoute; readonly failure: undefined }
  | { readonly route: GatewayRoute | undefined; readonly failure: Failure };

export function decideRoute(table: ShareTable<RoutePool>, host: string, facts: ClientFacts): RouteDecision {
  const route = table.find(host);
  if (route === undefined)
    return { route, failure: table.loaded ? FAILURES.unknownHost : FAILURES.noShareTable };
  if (facts.isSecure) {
    const name = canonicalHost(facts.serverName ?? '');
    if (name === undefined || table.find(name) !== route) return { route, failure: FAILURES.misdirected };
  }
  return route.isProtected ? { route, failure: FAILURES.protectedShare } : { route, failure: undefined };
}
