/** Media type and JSON content of a body. `#net` reads the bytes. */
import { BodyRefusal, type BodyAllowance, type BodyIntake } from '#net/http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RefusalError } from './api-errors.ts';
import { MAX_BODY_BYTES, MAX_UNPROVEN_BODY_BYTES } from './limits.ts';

/** Reads the body of one request within its caller's limits; empty if there is none. */
export type ReadBody = () => Promise<Buffer>;

/** Errors: `tooLarge`, `requestTimeout`, `unavailable`, `invalid`. */
export function bodyOf(
  intake: BodyIntake,
  request: IncomingMessage,
  response: ServerResponse,
  sender: Pick<BodyAllowance, 'peer' | 'address' | 'isBrief'>,
): ReadBody {
  const maxBytes = sender.peer === undefined ? MAX_UNPROVEN_BODY_BYTES : MAX_BODY_BYTES;
  return async () => {
    try {
      return await intake.read(request, response, { ...sender, maxBytes });
    } catch (error) {
      if (!(error instanceof BodyRefusal) || error.retryAfterS === undefined) throw error;
      const headers = { 'retry-after': String(error.retryAfterS) };
      throw new RefusalError(error.kind, error.code, error.message, headers);
    }
  };
}

/** Whether a Content-Type is this media type, in UTF-8. */
export function isMediaType(contentType: string | undefined, mediaType: string): boolean {
  const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
  if (type !== mediaType) return false;
  return parameters.every(
    (parameter) => !parameter.startsWith('charset=') || /^charset="?utf-?8"?$/.test(parameter),
  );
}

/** Returns the value of JSON text, or undefined if it is not JSON or not UTF-8. */
export function parseJson(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown };
  } catch {
    return undefined;
  }
}
