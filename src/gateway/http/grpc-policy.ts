/**
 * gRPC over HTTP: which messages it are, and how the gateway's own failures are said in it. `application/grpc` needs HTTP/2 to the
 * service; `application/grpc-web` is plain HTTP. https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
import { utf8 } from '#base';
import type { FieldLines } from './head-decoder.ts';
import { headerValue } from './header-name.ts';

/** `web-text` has its messages in base64. */
export type GrpcKind = 'grpc' | 'web' | 'web-text';

const TYPE = /^application\/grpc(-web(?:-text)?)?(?:[+;\s]|$)/i;

/** Returns undefined for a content type that is none of gRPC. */
export function grpcKind(contentType: string): GrpcKind | undefined {
  const found = TYPE.exec(contentType);
  if (found === null) return undefined;
  const [, web] = found;
  if (web === undefined) return 'grpc';
  return web.length > '-web'.length ? 'web-text' : 'web';
}

/** Whether a response of this content type has its status in trailers. */
export function isGrpcType(contentType: string): boolean {
  return grpcKind(contentType) === 'grpc';
}

/** Every call of gRPC is a POST. */
export function grpcKindOf({
  method,
  fields,
}: {
  readonly method: string;
  readonly fields: FieldLines;
}): GrpcKind | undefined {
  return method === 'POST' ? grpcKind(headerValue(fields, 'content-type')) : undefined;
}

const UNITS_MS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/** The deadline of a call in milliseconds, or undefined if it has none. */
export function grpcTimeoutMs(fields: FieldLines): number | undefined {
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(headerValue(fields, 'grpc-timeout')) ?? [];
  return digits === undefined ? undefined : Number(digits) * UNITS_MS[unit!]!;
}

const INTERNAL = 13;
const UNAVAILABLE = 14;
const DEADLINE_EXCEEDED = 4;
const STATUSES: Readonly<Record<number, number>> = {
  400: INTERNAL,
  401: 16, // UNAUTHENTICATED
  403: 7, // PERMISSION_DENIED
  404: 12, // UNIMPLEMENTED, as clients read a 404 themselves
  408: DEADLINE_EXCEEDED,
  413: 8, // RESOURCE_EXHAUSTED
  429: 8,
  431: 8,
  500: INTERNAL,
  501: 12,
};
/** The service had the call, and did not finish it in time. All other failures of 504 came before. */
const IN_TIME: ReadonlySet<string> = new Set(['answer-timeout', 'stream-idle']);

/** The status of gRPC for a failure of the gateway, by its code and its status of HTTP. */
export function grpcStatus({ status, code }: { readonly status: number; readonly code: string }): number {
  if (IN_TIME.has(code)) return DEADLINE_EXCEEDED;
  return STATUSES[status] ?? UNAVAILABLE;
}

const UNSAFE = /[^\x20-\x24\x26-\x7e]/gu;

/** A text as `grpc-message` has it. */
export function grpcMessage(text: string): string {
  return text.replaceAll(UNSAFE, (character) =>
    Array.from(utf8(character), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
}

/** The lines that end a call with a failure. */
export function grpcStatusLines(
  failure: { readonly status: number; readonly code: string; readonly message: string },
  errorId: string,
): string {
  const message = grpcMessage(`${failure.message} (${failure.code}, error ID ${errorId})`);
  return `grpc-status: ${grpcStatus(failure)}\r\ngrpc-message: ${message}\r\n`;
}
