/**
 * Errors before a request is complete: bytes that are not HTTP, heads that are too large or too slow, unsupported
 * expectations. They get a JSON body too, written by hand.
 */
import type { IncomingMessage, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Log } from '#base';
import type { ApiErrorWord } from '#contract';
import { STATUS_CODES } from '#net/http';
import type { ApiLimits } from './limits.ts';

/** Deadlines and limits of the HTTP server. */
export function httpOptions({ headTimeoutMs, requestTimeoutMs }: ApiLimits): ServerOptions {
  return {
    maxHeaderSize: 16_384,
    headersTimeout: headTimeoutMs,
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: 72_000,
    connectionsCheckingInterval: Math.min(1_000, headTimeoutMs),
    requireHostHeader: false,
  };
}

interface RawFailure {
  readonly status: number;
  readonly error: ApiErrorWord;
  readonly message: string;
}

const FAILURES: Readonly<Record<string, RawFailure>> = {
  HPE_HEADER_OVERFLOW: { status: 431, error: 'headers_too_large', message: 'The headers are too large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, error: 'timeout', message: 'The request did not arrive in time' },
};
const MALFORMED: RawFailure = {
  status: 400,
  error: 'invalid_request',
  message: 'The request is not HTTP/1.1',
};

export function handleRawFailures(app: FastifyInstance, log: Log): void {
  app.server.removeAllListeners('clientError');
  app.server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const { status, ...body } = FAILURES[error.code ?? ''] ?? MALFORMED;
    log.debug({ code: error.code, status }, 'refused data that is not an HTTP request');
    const text = JSON.stringify(body);
    socket.end(
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `Content-Length: ${Buffer.byteLength(text)}\r\nConnection: close\r\n\r\n${text}`,
    );
  });
  app.server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const text = JSON.stringify({ error: 'expectation_failed', message: 'Expect must be 100-continue' });
    response.writeHead(417, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(text),
      connection: 'close',
    });
    response.end(text);
  });
}
