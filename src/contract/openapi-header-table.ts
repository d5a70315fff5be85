/** Headers that some operations honour, in addition to those of every request. */
import {
  entityTagKindOf,
  IDEMPOTENCY_KEY_FORM,
  takesIdempotencyKey,
  takesIfMatch,
} from './conditional-request-table.ts';
import type { Operation } from './operation.ts';

export interface HeaderParameter {
  readonly name: string;
  readonly summary: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

const IF_NONE_MATCH: HeaderParameter = {
  name: 'If-None-Match',
  summary: 'ETag of a response that the caller has already; the answer is 304 while it is current',
  schema: { type: 'string' },
};
const IF_MATCH: HeaderParameter = {
  name: 'If-Match',
  summary:
    'ETag of the resource as it was read, several separated by commas, or *; the answer is 412 if the resource has changed since',
  schema: { type: 'string' },
};
const IDEMPOTENCY_KEY: HeaderParameter = {
  name: 'Idempotency-Key',
  summary:
    'Key that the caller generates for this request; a repeated request within 24 hours gets the first response',
  schema: { type: 'string', pattern: IDEMPOTENCY_KEY_FORM.source },
};

export function headerParametersOf(operation: Operation): readonly HeaderParameter[] {
  const isRead = operation.method === 'GET' && entityTagKindOf(operation) === 'whole';
  return [
    ...(isRead ? [IF_NONE_MATCH] : []),
    ...(takesIfMatch(operation) ? [IF_MATCH] : []),
    ...(takesIdempotencyKey(operation) ? [IDEMPOTENCY_KEY] : []),
  ];
}
