/**
 * Reads a request's body under a cap, and no more than that. The length that a request states is checked before
 * anything else about it is; a body without one is refused as soon as it passes the cap.
 */
import type { IncomingMessage } from 'node:http';
import { FrontdoorError } from '#base';
import { tooLarge } from './api-errors.ts';

/** A body that states to be so much larger than the cap is not waited for: its connection ends. */
const MAX_DISCARDED_BYTES = 16 * 1_048_576;

/** Throws `tooLarge` when the stated length is over the cap. */
export function checkStatedLength(request: IncomingMessage, maxBytes: number): void {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

/** Whether the connection has to end after this request, since its body is too large to read to the end. */
export function isHopelesslyLarge(request: IncomingMessage): boolean {
  return Number(request.headers['content-length'] ?? 0) > MAX_DISCARDED_BYTES;
}

export function hasBody(request: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
  return coding !== undefined || (length !== undefined && Number(length) > 0);
}

/** The whole body, empty when there is none. Errors: `tooLarge`; `invalid` when it breaks off. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (!hasBody(request)) return Promise.resolve(Buffer.alloc(0));
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const parts: Buffer[] = [];
  let length = 0;
  const settle = (): void => {
    request.off('data', onData);
    request.off('end', onEnd);
    request.off('error', onBroken);
    request.off('close', onBroken);
  };
  const onData = (part: Buffer): void => {
    length += part.length;
    if (length <= maxBytes) {
      parts.push(part);
      return;
    }
    settle();
    request.resume();
    reject(tooLarge(maxBytes));
  };
  const onEnd = (): void => {
    settle();
    resolve(Buffer.concat(parts));
  };
  const onBroken = (): void => {
    settle();
    reject(new FrontdoorError('invalid', 'invalid_request', 'The body broke off'));
  };
  request.on('data', onData);
  request.on('end', onEnd);
  request.on('error', onBroken);
  request.on('close', onBroken);
  return promise;
}

/** Whether a Content-Type names this media type, in UTF-8. */
export function isMediaType(contentType: string | undefined, mediaType: string): boolean {
  const [type = '', ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
  if (type !== mediaType) return false;
  return parameters.every(
    (parameter) => !parameter.startsWith('charset=') || /^charset="?utf-?8"?$/.test(parameter),
  );
}

/** The value of JSON text; undefined when it is none or not UTF-8. */
export function parseJson(bytes: Uint8Array): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown };
  } catch {
    return undefined;
  }
}
