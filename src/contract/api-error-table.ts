/**
 * The words that `error` may hold in refusals of the Management API, spelled as its requirement spells them. The
 * server, the OpenAPI document and the reference page take them from here.
 */
import { errorsSince } from '#base';

export const API_ERRORS = errorsSince('0.1.0', {
  invalid_request: {
    kind: 'invalid',
    meaning:
      'A value is missing, unknown or malformed; the body is not JSON; or the Authorization header is malformed',
    remedy: 'Correct the request as the message describes.',
  },
  unauthorized: {
    kind: 'unauthenticated',
    meaning: 'The credential is missing, expired or invalid',
    remedy: 'Get a new token, or check the ID and secret.',
  },
  insufficient_scope: {
    kind: 'forbidden',
    meaning: 'The credential lacks the scope that the message names',
    remedy: 'Use a credential with that scope.',
  },
  not_found: {
    kind: ['notFound', 'forbidden'],
    meaning: 'The resource in the path or body does not exist',
    remedy: 'Check the ID. With 403, the frontdoor or organization may belong to another caller.',
  },
  method_not_allowed: {
    kind: 'wrongMethod',
    meaning: 'The path does not support the method',
    remedy: 'Use one of the methods that the message and the Allow header name.',
  },
  conflict: {
    kind: 'conflict',
    meaning: 'The request conflicts with the current state; the message gives the reason',
    remedy: 'Resolve the conflict that the message describes, then try again.',
  },
  precondition_failed: {
    kind: 'preconditionFailed',
    meaning: 'The resource no longer has the tag in `If-Match`; nothing was changed',
    remedy: 'Read the object again and repeat the change with its new ETag.',
  },
  too_large: {
    kind: 'tooLarge',
    meaning: 'The body is larger than 1 MiB, or than 16 KiB for a caller without a valid credential',
    remedy: 'Send a smaller body.',
  },
  unsupported_media_type: {
    kind: 'unsupportedType',
    meaning: 'There is a body, and its Content-Type is not supported or its characters are not UTF-8',
    remedy: 'Send the content type that the message names, in UTF-8.',
  },
  rate_limited: {
    kind: 'limited',
    meaning: 'The caller or its address sent too many requests',
    remedy: 'Wait for the number of seconds in Retry-After.',
  },
  headers_too_large: {
    kind: 'headTooLarge',
    meaning: 'The headers are larger than 16 KiB',
    remedy: 'Send fewer or shorter headers.',
  },
  timeout: {
    kind: ['requestTimeout', 'timeout'],
    meaning: 'The request did not arrive in time, or a backend did not respond in time',
    remedy: 'Try again.',
  },
  unavailable: {
    kind: 'unavailable',
    meaning: 'A part of the service is temporarily unavailable, or too many bodies arrive at the same time',
    remedy: 'Try again after the number of seconds in Retry-After.',
  },
  internal: {
    kind: 'internal',
    meaning: 'An internal error; the log has an entry with the ID in the message',
    remedy: 'Find the ID in the log of the control plane, and report it.',
  },
});

export type ApiErrorWord = keyof typeof API_ERRORS;

/** Beside `invalid_request`, what the token endpoint answers (RFC 6749 §5.2). */
export const TOKEN_ERRORS = errorsSince('0.1.0', {
  invalid_client: {
    kind: 'unauthenticated',
    meaning: 'The client is unknown, or its secret is wrong or missing',
    remedy: 'Check the ID and secret of the client.',
  },
  unsupported_grant_type: {
    kind: 'invalid',
    meaning: 'The grant type is not `client_credentials`',
    remedy: 'Use `grant_type=client_credentials`.',
  },
  invalid_scope: {
    kind: 'invalid',
    meaning: 'The client requested a scope that it does not have',
    remedy: 'Request only scopes that the client was created with.',
  },
});

export type TokenErrorWord = 'invalid_request' | keyof typeof TOKEN_ERRORS;
