/** Decides whether a client may use a share that does not speak HTTP, before its circuit is dialed and while it is open. */
import { OPEN_ADMISSION, type AccessAdmission } from '../access/access.ts';
import { FAILURES, failureOfMaintenance, type Failure } from '../answers/failure-table.ts';
import type { ClientFacts } from '../circuits/route-decision.ts';
import type { GatewayHost, GatewayRoute } from '../circuits/upstream.ts';
import type { GatewayContext } from '../exchange/gateway-context.ts';

/** Time between two decisions about an open connection. */
export const CHECK_MS = 1_000;

/** The decision may differ at the next look, so that it is made again while the connection is open. */
export const ADMISSION: AccessAdmission = { ...OPEN_ADMISSION, decision: 'network', isGuarded: true };

/** `open`: how many connections the share has in this process. Returns undefined for a client that is admitted. */
export function refusalOfStream(
  { access, limits }: GatewayContext,
  host: GatewayHost,
  client: ClientFacts,
  open: number,
): Failure | undefined {
  if (open >= limits.maxStreamsPerShare) return FAILURES.tooManyConnections;
  return access.decidePort(host, client) ?? maintenanceOf(host);
}

/** `now` is what the client would reach now, and `route` what it was admitted to. Returns undefined while it may stay. */
export function endOfStream(
  { access }: GatewayContext,
  now: GatewayHost | undefined,
  route: GatewayRoute,
  client: ClientFacts,
): Failure | undefined {
  const isSame = now?.route.share.id === route.share.id;
  return access.endOf(isSame ? now : undefined, ADMISSION, client) ?? maintenanceOf(now);
}

function maintenanceOf(host: GatewayHost | undefined): Failure | undefined {
  return host?.route.share.upstream?.maintenance === undefined ? undefined : failureOfMaintenance('');
}
