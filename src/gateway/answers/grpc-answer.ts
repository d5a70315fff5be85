/**
 * A failure of the gateway for a client of gRPC, which reads no page and no status of HTTP: a response without a message, whose
 * status says what failed. A client of gRPC-Web gets it as the frame of trailers that ends its responses.
 */
import { grpcStatusLines, type GrpcKind } from '../http/grpc-policy.ts';
import type { Failure } from './failure-table.ts';

const TYPES: Readonly<Record<GrpcKind, string>> = {
  grpc: 'application/grpc',
  web: 'application/grpc-web+proto',
  'web-text': 'application/grpc-web-text+proto',
};
/** The flag of a frame that has trailers instead of a message. */
const TRAILERS_FRAME = 0x80;
const FRAME_HEAD_BYTES = 5;

/** Returns head and body. `moreLines` are header lines without line ends. */
export function encodeGrpcAnswer(
  kind: GrpcKind,
  failure: Failure,
  errorId: string,
  moreLines: readonly string[],
): Buffer {
  const status = grpcStatusLines(failure, errorId);
  const body = kind === 'grpc' ? Buffer.alloc(0) : webBody(kind, status);
  const lines = [
    'HTTP/1.1 200 OK',
    `Date: ${new Date().toUTCString()}`,
    `Content-Type: ${TYPES[kind]}`,
    `Content-Length: ${body.length}`,
    'Cache-Control: no-store',
    `Frontdoor-Error-Id: ${errorId}`,
    ...moreLines,
  ];
  const own = kind === 'grpc' ? status : '';
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n${own}\r\n`, 'latin1'), body]);
}

function webBody(kind: GrpcKind, status: string): Buffer {
  const trailers = Buffer.from(status.replaceAll(': ', ':'), 'latin1');
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head[0] = TRAILERS_FRAME;
  head.writeUInt32BE(trailers.length, 1);
  const frame = Buffer.concat([head, trailers]);
  return kind === 'web-text' ? Buffer.from(frame.toString('base64'), 'latin1') : frame;
}
