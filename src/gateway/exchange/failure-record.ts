/**
 * The single log record of a request that was not served, or of a client that disconnected. It contains no paths
 * and no header values.
 */
import type { Log } from '#base';
import type { Failure } from '../answers/failure-table.ts';
import type { GatewayRoute } from '../circuits/upstream.ts';

/** What the client received. */
export interface ClientOutcome {
  /** The status of the page, or the fact that the response was cut. */
  readonly status: number | 'broken off';
  /** The error id on the page. */
  readonly errorId?: string;
}

export interface FailedRequest extends ClientOutcome {
  readonly route: GatewayRoute | undefined;
  readonly client: string;
}

export function recordFailure(log: Log, failure: Failure, request: FailedRequest): void {
  const { route, ...outcome } = request;
  const { code, hop, cause } = failure;
  // Maintenance is what the owner wants.
  const level = hop === 'client' || code === 'maintenance' ? 'info' : 'warn';
  log[level]({ ...outcome, code, hop, share: route?.share.token, cause }, 'request not served');
}

export function recordGone(log: Log, cause: string, route: GatewayRoute | undefined, client: string): void {
  log.info({ hop: 'client', share: route?.share.token, client, cause }, 'client gone');
}
