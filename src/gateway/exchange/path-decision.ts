/** What follows for an admitted request from the path of its target. ADR 0092. */
import { pathReadings } from '#domain';
import { failureOfAccess } from '../access/access-failure-table.ts';
import type { AccessRefusal } from '../access/access.ts';
import type { Failure } from '../answers/failure-table.ts';
import type { GatewayRoute } from '../circuits/upstream.ts';

/** A path with dots could lead out of the path that the target of the share has. */
export function failureOfPath({ share }: GatewayRoute, target: string): Failure | undefined {
  if (share.upstream?.path === undefined || pathReadings(target) !== undefined) return undefined;
  return failureOfAccess('path-ambiguous');
}

export function pathVerdict(route: GatewayRoute, target: string): AccessRefusal | undefined {
  const failure = failureOfPath(route, target);
  return failure && { type: 'refuse', decision: failure.code, failure };
}
