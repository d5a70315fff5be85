/**
 * What follows for an admitted request from the path of its target: an answer of the gateway itself, maintenance of the share, or
 * a refusal because of a path that can be read in more than one way. ADR 0092.
 */
import { pathReadings } from '#domain';
import { failureOfAccess } from '../access/access-failure-table.ts';
import type { AccessRefusal, OwnAnswer } from '../access/access.ts';
import { failureOfMaintenance, type Failure } from '../answers/failure-table.ts';
import type { GatewayRoute } from '../circuits/upstream.ts';
import type { FoundAnswer } from '../shares/own-answers.ts';

/** A path with dots could lead out of the path that the target of the share has. */
export function failureOfPath({ share }: GatewayRoute, target: string): Failure | undefined {
  if (share.upstream?.path === undefined || pathReadings(target) !== undefined) return undefined;
  return failureOfAccess('path-ambiguous');
}

/** Returns undefined if the request goes to the service. */
export function pathVerdict(route: GatewayRoute, target: string): AccessRefusal | OwnAnswer | undefined {
  const { answers, share } = route;
  const found = answers?.find(target);
  if (found === 'ambiguous') return refusal(failureOfAccess('path-ambiguous'));
  if (found !== undefined) return ownAnswer(found);
  const { maintenance } = share.upstream ?? {};
  if (maintenance !== undefined)
    return refusal(failureOfMaintenance(maintenance.text), [`Retry-After: ${maintenance.retrySeconds}`]);
  const failure = failureOfPath(route, target);
  return failure && refusal(failure);
}

function refusal(failure: Failure, lines: readonly string[] = []): AccessRefusal {
  return { type: 'refuse', decision: failure.code, failure, lines };
}

function ownAnswer({ answer, location }: FoundAnswer): OwnAnswer {
  const { status, text = '', contentType = 'text/plain; charset=utf-8' } = answer;
  const line = location === undefined ? `Content-Type: ${contentType}` : `Location: ${location}`;
  const lines = [line, 'Cache-Control: private, no-cache', 'X-Content-Type-Options: nosniff'];
  return { type: 'answer', decision: 'own-answer', answer: { status, lines, body: text } };
}
