/**
 * What follows for an admitted request from the path of its target: an answer of the gateway itself, maintenance of the share, or
 * a refusal because of a path that can be read in more than one way; otherwise the target that serves it. ADR 0092.
 */
import { pathReadings } from '#domain';
import { failureOfAccess } from '../access/access-failure-table.ts';
import type { AccessRefusal, OwnAnswer } from '../access/access.ts';
import { failureOfMaintenance, type Failure } from '../answers/failure-table.ts';
import type { GatewayRoute } from '../circuits/upstream.ts';
import type { FoundAnswer } from '../shares/own-answers.ts';

/**
 * Returns the route of a target by its path, or why it has none: a path with dots could lead out of the path that the target of
 * the share has, and one with several readings to the service of another path.
 */
export function routeOfPath(route: GatewayRoute, target: string): GatewayRoute | Failure {
  const found = route.targets?.find(target);
  const isUnclear =
    found === undefined && route.share.upstream?.path !== undefined && pathReadings(target) === undefined;
  return found === 'ambiguous' || isUnclear ? failureOfAccess('path-ambiguous') : (found ?? route);
}

/** Returns undefined if the request goes to the service. */
export function pathVerdict(
  { answers, share }: GatewayRoute,
  target: string,
): AccessRefusal | OwnAnswer | undefined {
  const found = answers?.find(target);
  if (found === 'ambiguous') return pathRefusal(failureOfAccess('path-ambiguous'));
  if (found !== undefined) return ownAnswer(found);
  const { maintenance } = share.upstream ?? {};
  return (
    maintenance &&
    pathRefusal(failureOfMaintenance(maintenance.text), [`Retry-After: ${maintenance.retrySeconds}`])
  );
}

export function pathRefusal(failure: Failure, lines: readonly string[] = []): AccessRefusal {
  return { type: 'refuse', decision: failure.code, failure, lines };
}

function ownAnswer({ answer, location }: FoundAnswer): OwnAnswer {
  const { status, text = '', contentType = 'text/plain; charset=utf-8' } = answer;
  const line = location === undefined ? `Content-Type: ${contentType}` : `Location: ${location}`;
  const lines = [line, 'Cache-Control: private, no-cache', 'X-Content-Type-Options: nosniff'];
  return { type: 'answer', decision: 'own-answer', answer: { status, lines, body: text } };
}
