/** The error responses of an operation, computed from its row, and the meaning of each. */
import { takesIdempotencyKey, takesIfMatch } from './conditional-request-table.ts';
import type { Operation } from './operation.ts';

export interface ApiRefusalRow {
  readonly status: number;
  /** Name of the error response among the components of the description. */
  readonly name: string;
  /** The codes that `error` may have. */
  readonly errors: readonly string[];
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
    when: 'A value is missing, unknown or malformed; the body is not JSON; or the Authorization header does not have one of its two exact forms',
    example: 'Value for name must be of string',
  },
  {
    status: 401,
    name: 'Unauthorized',
    errors: ['unauthorized'],
    when: 'The credential is missing, expired or invalid',
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
    when: 'The resource in the path or body does not exist',
    example: 'Environment 5b0c2a3e-6f0f-4a5e-9d53-0f2f6d1c7a10 not found',
  },
  {
    status: 409,
    name: 'Conflict',
    errors: ['conflict'],
    when: 'The request conflicts with the current state; the message gives the reason',
    example: 'The share name demo is taken',
  },
  {
    status: 412,
    name: 'PreconditionFailed',
    errors: ['precondition_failed'],
    when: 'The resource no longer has the tag in `If-Match`; nothing was changed',
    example: 'It has changed since it was read: its ETag is none of those in If-Match',
  },
  {
    status: 413,
    name: 'TooLarge',
    errors: ['too_large'],
    when: 'The body is larger than 1 MiB, or than 16 KiB for a caller without a valid credential',
    example: 'The body must not be larger than 1048576 bytes',
  },
  {
    status: 415,
    name: 'UnsupportedMediaType',
    errors: ['unsupported_media_type'],
    when: 'There is a body, and its Content-Type is not supported or its characters are not UTF-8',
    example: 'Content-Type must be application/json',
  },
  {
    status: 429,
    name: 'TooManyRequests',
    errors: ['rate_limited'],
    when: 'The caller or its address sent too many requests',
    example: 'Too many requests',
    headers: { 'Retry-After': 'Seconds to wait' },
  },
  {
    status: 500,
    name: 'Internal',
    errors: ['internal'],
    when: 'An internal error; the log has an entry with the id in the message',
    example: 'Internal error 6d0f2a9b51c7e384',
  },
  {
    status: 503,
    name: 'Unavailable',
    errors: ['unavailable'],
    when: 'A part of the service is temporarily unavailable, or too many bodies arrive at the same time',
    example: 'The service is not available at the moment',
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
    when: 'The client is unknown, or its secret is wrong or missing',
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
