/**
 * Responses in OpenZiti's envelope. The content type is exactly `application/json` and the length is always set,
 * because OpenZiti's clients treat anything else as another kind of response.
 */
import { randomBytes } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { definedFields, ERROR_KINDS, type ErrorKind } from '#base';

export interface Pagination {
  readonly limit: number;
  readonly offset: number;
  readonly totalCount: number;
}

/** What a refusal is about: a parameter, anything else, or several entities by id. */
export type RefusalDetail =
  | { readonly field: string; readonly reason: string; readonly value: string }
  | { readonly code: 'UNHANDLED'; readonly message: string }
  | { readonly message: string; readonly data: Readonly<Record<string, unknown>> };

/** OpenZiti's answers to refused requests carry the versions of its formats. */
const REFUSAL_META = { apiEnrollmentVersion: '0.0.1', apiVersion: '0.0.1' };

/** An error response with one of OpenZiti's codes. Routes throw it. */
export class EdgeApiRefusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly retryAfterS: number | undefined;
  /** The cause for the audit trail, which callers do not see. */
  reason: string | undefined;
  /** `error.cause` of the answer: details for the caller, in one of OpenZiti's forms. */
  detail: RefusalDetail | undefined;

  constructor(kind: ErrorKind, code: string, message: string, retryAfterS?: number) {
    super(message);
    this.name = 'EdgeRefusal';
    this.status = ERROR_KINDS[kind].status;
    this.code = code;
    this.retryAfterS = retryAfterS;
  }
}

/** `reason` is the cause, which is sent only to callers with a certificate of Frontdoor. */
export const notAuthorized = (reason?: string): EdgeApiRefusal => {
  const cause = reason === undefined ? '' : `: ${reason}`;
  return new EdgeApiRefusal(
    'unauthenticated',
    'UNAUTHORIZED',
    `The request could not be completed. The session is not authorized or the credentials are invalid${cause}`,
  );
};

export const notFound = (): EdgeApiRefusal =>
  new EdgeApiRefusal(
    'notFound',
    'NOT_FOUND',
    'The resource requested was not found or is no longer available',
  );

/** For an entity that a request names, where OpenZiti calls the entity missing and not the request invalid. */
export const missingEntity = (kind: string, id: string): EdgeApiRefusal =>
  explained(notFound(), `${kind} with id ${id} not found`);

/** For a path that no route has. */
export const unknownPath = (path: string): EdgeApiRefusal =>
  explained(notFound(), `path ${path} was not found`);

/** For a path whose routes have other methods. */
export const wrongMethod = (method: string, methods: readonly string[]): EdgeApiRefusal =>
  explained(
    new EdgeApiRefusal(
      'wrongMethod',
      'METHOD_NOT_ALLOWED',
      'The resource requested does not support this HTTP verb',
    ),
    `method ${method} is not allowed, but [${methods.join(',')}] are`,
  );

export const invalidFilter = (why: string): EdgeApiRefusal =>
  explained(new EdgeApiRefusal('invalid', 'INVALID_FILTER', 'The filter query supplied is invalid'), why);

export const invalidSort = (why: string): EdgeApiRefusal =>
  explained(
    new EdgeApiRefusal('invalid', 'INVALID_SORT_IDENTIFIER', 'The sort order supplied is invalid'),
    why,
  );

/** For a parameter of the query. */
export const invalidParameter = (field: string, reason: string, value: string): EdgeApiRefusal => {
  const refusal = couldNotValidate(reason);
  refusal.detail = { field, reason, value };
  return refusal;
};

export const couldNotValidate = (why: string): EdgeApiRefusal =>
  new EdgeApiRefusal(
    'invalid',
    'COULD_NOT_VALIDATE',
    `The supplied request contains an invalid document: ${why}`,
  );

export const badCsr = (problem: string): EdgeApiRefusal =>
  new EdgeApiRefusal(
    'invalid',
    'COULD_NOT_PROCESS_CSR',
    `The supplied csr could not be processed: ${problem}`,
  );

export const limited = (waitMs: number): EdgeApiRefusal =>
  new EdgeApiRefusal(
    'limited',
    'RATE_LIMITED',
    'Too many requests: try again later',
    Math.max(1, Math.ceil(waitMs / 1000)),
  );

export function sendData(reply: FastifyReply, data: unknown, status = 200, meta: unknown = {}): FastifyReply {
  return sendJson(reply, status, { data, meta });
}

export function sendList(
  reply: FastifyReply,
  data: readonly unknown[],
  pagination: Pagination,
  filterableFields: readonly string[] = ['id', 'name'],
): FastifyReply {
  return sendJson(reply, 200, { data, meta: { filterableFields, pagination } });
}

export function sendRefusal(reply: FastifyReply, refusal: EdgeApiRefusal): FastifyReply {
  if (refusal.retryAfterS !== undefined) void reply.header('retry-after', String(refusal.retryAfterS));
  return sendJson(reply, refusal.status, refusalBody(refusal.code, refusal.message, refusal.detail));
}

export function refusalBody(code: string, message: string, cause?: RefusalDetail): unknown {
  const requestId = randomBytes(6).toString('base64url');
  return { error: definedFields({ code, message, requestId, cause }), meta: REFUSAL_META };
}

function explained(refusal: EdgeApiRefusal, message: string): EdgeApiRefusal {
  refusal.detail = { code: 'UNHANDLED', message };
  return refusal;
}

/** Sends JSON as it is, without OpenZiti's envelope. */
export function sendJson(reply: FastifyReply, status: number, body: unknown): FastifyReply {
  // Sent as bytes, because the framework would add a charset parameter to an object.
  return reply
    .code(status)
    .header('content-type', 'application/json')
    .send(Buffer.from(JSON.stringify(body)));
}
