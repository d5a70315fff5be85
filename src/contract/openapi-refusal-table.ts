/** The error responses of an operation, computed from its row, and the meaning of each. */
import { API_ERRORS, TOKEN_ERRORS, type ApiErrorWord, type TokenErrorWord } from './api-error-table.ts';
import { takesIdempotencyKey, takesIfMatch } from './conditional-request-table.ts';
import type { Operation } from './operation.ts';

export interface ApiRefusalRow {
  readonly status: number;
  /** Name of the error response among the components of the description. */
  readonly name: string;
  /** The codes that `error` may have. */
  readonly errors: readonly (ApiErrorWord | TokenErrorWord)[];
  readonly when: string;
  readonly example: string;
  /** Headers that only this error response has. */
  readonly headers?: Readonly<Record<string, string>>;
}

const rows: readonly ApiRefusalRow[] = [
  {
    status: 400,
    name: 'InvalidRequest',
    errors: ['invalid_request'],
    when: API_ERRORS.invalid_request.meaning,
    example: 'Value for name must be of string',
  },
  {
    status: 401,
    name: 'Unauthorized',
    errors: ['unauthorized'],
    when: API_ERRORS.unauthorized.meaning,
    example: 'Bearer token is missing or invalid',
    headers: { 'WWW-Authenticate': 'Accepted authentication schemes' },
  },
  {
    status: 403,
    name: 'NotGranted',
    errors: ['not_found', 'insufficient_scope'],
    when: 'The resource in the path or body belongs to another organization or does not exist, or the credential lacks the scope',
    example: 'Frontdoor 5b0c2a3e-6f0f-4a5e-9d53-0f2f6d1c7a10 not found',
  },
  {
    status: 404,
    name: 'NotFound',
    errors: ['not_found'],
    when: API_ERRORS.not_found.meaning,
    example: 'Environment 5b0c2a3e-6f0f-4a5e-9d53-0f2f6d1c7a10 not found',
  },
  {
    status: 409,
    name: 'Conflict',
    errors: ['conflict'],
    when: API_ERRORS.conflict.meaning,
    example: 'The share name demo is taken',
  },
  {
    status: 412,
    name: 'PreconditionFailed',
    errors: ['precondition_failed'],
    when: API_ERRORS.precondition_failed.meaning,
    example: 'It has changed since it was read: its ETag is none of those in If-Match',
  },
  {
    status: 413,
    name: 'TooLarge',
    errors: ['too_large'],
    when: API_ERRORS.too_large.meaning,
    example: 'The body must not be larger than 1048576 bytes',
  },
  {
    status: 415,
    name: 'UnsupportedMediaType',
    errors: ['unsupported_media_type'],
    when: API_ERRORS.unsupported_media_type.meaning,
    example: 'Content-Type must be application/json',
  },
  {
    status: 429,
    name: 'TooManyRequests',
    errors: ['rate_limited'],
    when: API_ERRORS.rate_limited.meaning,
    example: 'Too many requests',
    headers: { 'Retry-After': 'Seconds to wait' },
  },
  {
    status: 500,
    name: 'Internal',
    errors: ['internal'],
    when: API_ERRORS.internal.meaning,
    example: 'Internal error 6d0f2a9b51c7e384',
  },
  {
    status: 503,
    name: 'Unavailable',
    errors: ['unavailable'],
    when: API_ERRORS.unavailable.meaning,
    example: 'The service is not available at the moment',
    headers: { 'Retry-After': 'Seconds to wait' },
  },
];

/** RFC 6749 §5.2 defines its own codes for the same two statuses. */
const issuerRows: readonly ApiRefusalRow[] = [
  {
    status: 400,
    name: 'TokenNotGranted',
    errors: ['invalid_request', 'unsupported_grant_type', 'invalid_scope'],
    when: 'The request is malformed, or asks for something that the client may not have (RFC 6749 §5.2)',
    example: 'Value for grant_type must be of client_credentials',
  },
  {
    status: 401,
    name: 'InvalidClient',
    errors: ['invalid_client'],
    when: TOKEN_ERRORS.invalid_client.meaning,
    example: 'Client credentials are missing or invalid',
    headers: { 'WWW-Authenticate': 'Accepted authentication schemes' },
  },
];

/** Returns the error responses of an operation, one per status. Statuses that any path may answer are not included. */
export function refusalsOf(operation: Operation): readonly ApiRefusalRow[] {
  const { scope, method, isLimitedByAddress, refusals } = operation;
  const statuses = new Set([400, 413, 415, 500, 503, ...refusals]);
  if (scope !== undefined) statuses.add(401).add(403);
  if (takesIfMatch(operation)) statuses.add(412);
  if (takesIdempotencyKey(operation)) statuses.add(409);
  if (isLimitedByAddress || (scope !== undefined && method !== 'GET')) statuses.add(429);
  return [...statuses].sort((a, b) => a - b).map((status) => rowOf(status, operation));
}

function rowOf(status: number, { id }: Operation): ApiRefusalRow {
  const candidates = id === 'issueToken' ? [...issuerRows, ...rows] : rows;
  const row = candidates.find((each) => each.status === status);
  if (row === undefined) throw new Error(`${id}: no meaning for the error status ${status}`);
  return row;
}
