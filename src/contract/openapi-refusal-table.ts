/** Which refusals an operation can give, computed from its row, and what each means. */
import { takesIdempotencyKey, takesIfMatch } from './conditional-request-table.ts';
import type { Operation } from './operation.ts';

export interface ApiRefusalRow {
  readonly status: number;
  /** Of the refusal among the reusable parts of the description. */
  readonly name: string;
  /** The words that `error` may hold. */
  readonly errors: readonly string[];
  readonly when: string;
  readonly example: string;
  /** Of headers that only this refusal has. */
  readonly headers?: Readonly<Record<string, string>>;
}

const rows: readonly ApiRefusalRow[] = [
  {
    status: 400,
    name: 'InvalidRequest',
    errors: ['invalid_request'],
    when: 'A value is missing, not known or of the wrong form; the body is no JSON; the Authorization header has not one of its two exact forms',
    example: 'Value for name must be of string',
  },
  {
    status: 401,
    name: 'Unauthorized',
    errors: ['unauthorized'],
    when: 'The credential is missing, expired or invalid',
    example: 'Bearer token is missing or invalid',
    headers: { 'WWW-Authenticate': 'How to show a credential' },
  },
  {
    status: 403,
    name: 'NotGranted',
    errors: ['not_found', 'insufficient_scope'],
    when: "What the path or body names is not the caller's or is not there; or the credential lacks the scope",
    example: 'Frontdoor 5b0c2a3e-6f0f-4a5e-9d53-0f2f6d1c7a10 not found',
  },
  {
    status: 404,
    name: 'NotFound',
    errors: ['not_found'],
    when: 'What the path or body names is not there',
    example: 'Environment 5b0c2a3e-6f0f-4a5e-9d53-0f2f6d1c7a10 not found',
  },
  {
    status: 409,
    name: 'Conflict',
    errors: ['conflict'],
    when: 'It cannot be done beside what is there; the message says why',
    example: 'The share name demo is taken',
  },
  {
    status: 412,
    name: 'PreconditionFailed',
    errors: ['precondition_failed'],
    when: 'It is no longer what `If-Match` names; nothing was changed',
    example: 'It has changed since it was read: its ETag is none of those in If-Match',
  },
  {
    status: 413,
    name: 'TooLarge',
    errors: ['too_large'],
    when: 'The body is larger than 1 MiB, or than 16 KiB where the caller shows no credential',
    example: 'The body must not be larger than 1048576 bytes',
  },
  {
    status: 415,
    name: 'UnsupportedMediaType',
    errors: ['unsupported_media_type'],
    when: 'There is a body, and its Content-Type is another one or its characters are not UTF-8',
    example: 'Content-Type must be application/json',
  },
  {
    status: 429,
    name: 'TooManyRequests',
    errors: ['rate_limited'],
    when: 'The caller or its address asked too often',
    example: 'Too many requests',
    headers: { 'Retry-After': 'Seconds to wait' },
  },
  {
    status: 500,
    name: 'Internal',
    errors: ['internal'],
    when: 'A failure of ours; the id in the message stands in the log',
    example: 'Internal error 6d0f2a9b51c7e384',
  },
  {
    status: 503,
    name: 'Unavailable',
    errors: ['unavailable'],
    when: 'A part of the service is away for the moment, or too many bodies arrive at one time',
    example: 'The service is not available at the moment',
  },
];

/** RFC 6749 §5.2 has codes of its own for the same two statuses. */
const issuerRows: readonly ApiRefusalRow[] = [
  {
    status: 400,
    name: 'TokenNotGranted',
    errors: ['invalid_request', 'unsupported_grant_type', 'invalid_scope'],
    when: 'The request is malformed, or asks for what the client may not have (RFC 6749 §5.2)',
    example: 'Value for grant_type must be of client_credentials',
  },
  {
    status: 401,
    name: 'InvalidClient',
    errors: ['invalid_client'],
    when: 'The client is not known, or its secret is wrong or missing',
    example: 'Client credentials are missing or invalid',
    headers: { 'WWW-Authenticate': 'How to show a credential' },
  },
];

/** By status, each once. Statuses that any path may answer, whatever stands there, are not an operation's. */
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
  if (row === undefined) throw new Error(`${id}: nothing says what a refusal with ${status} means`);
  return row;
}
