/** Conditions of requests (RFC 9110 §13), evaluated before and after the handler. */
import type { IncomingMessage } from 'node:http';
import {
  entityTagKindOf,
  IDEMPOTENCY_KEY_FORM,
  takesIdempotencyKey,
  takesIfMatch,
  type Operation,
} from '#contract';
import { invalidValue } from '#domain';
import type { Secrets } from '../../secrets/mod.ts';
import type { ApiAnswer } from './call.ts';
import { checkConditions, entityTagOf, isHeld } from './entity-tag.ts';

/**
 * Refuses a condition that the operation does not support, because ignoring it would do more than the caller
 * asked. Throws `invalid`.
 */
export function checkConditionHeaders(operation: Operation, { headers }: IncomingMessage): void {
  const { method, scope } = operation;
  if (scope === undefined || method === 'GET') return;
  if (headers['if-match'] !== undefined && !takesIfMatch(operation))
    throw invalidValue('If-Match', 'nothing, for this has no entity tag');
  const { 'idempotency-key': key } = headers;
  // PUT, PATCH and DELETE are idempotent anyway.
  if (key === undefined || method !== 'POST') return;
  if (!takesIdempotencyKey(operation))
    throw invalidValue('Idempotency-Key', 'nothing, for this creates nothing');
  if (typeof key !== 'string' || !IDEMPOTENCY_KEY_FORM.test(key))
    throw invalidValue('Idempotency-Key', 'idempotency key (1 to 255 visible ASCII characters, once)');
}

/** Returns the response with its entity tag, if it has one. Evaluates the conditions of a read: 304, or a refusal. */
export function conditionalAnswer(
  parts: { readonly secrets: Pick<Secrets, 'tag'> },
  operation: Operation,
  request: IncomingMessage,
  answer: ApiAnswer,
): ApiAnswer {
  const kind = entityTagKindOf(operation);
  if (kind === undefined || answer.status >= 300) return answer;
  const etag = answer.headers?.['etag'] ?? entityTagOf(parts, answer.body);
  const headers = { ...answer.headers, etag };
  if (operation.method === 'GET') {
    const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = request.headers;
    if (ifMatch !== undefined) checkConditions({ headers: { 'if-match': ifMatch } }, etag);
    if (kind === 'whole' && isHeld(ifNoneMatch, etag)) return { status: 304, headers };
  }
  return { ...answer, headers };
}
