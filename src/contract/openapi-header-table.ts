/** Headers that an operation honours, beside those that every request has. */
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
  summary: 'The ETag of the answer that one holds already: 304 while that is current',
  schema: { type: 'string' },
};
const IF_MATCH: HeaderParameter = {
  name: 'If-Match',
  summary: 'The ETag of what was read, several with commas, or *: 412 when it has changed since',
  schema: { type: 'string' },
};
const IDEMPOTENCY_KEY: HeaderParameter = {
  name: 'Idempotency-Key',
  summary:
    'A text of the caller’s own for this request: sent again within 24 hours, it gets the first answer',
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
