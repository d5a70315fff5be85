/**
 * A small HTTP server for operators' tools: a few paths that answer GET with a text made at that moment. It has
 * no credentials and no TLS, so it belongs on a loopback or management address. Connections, heads and waiting
 * times are limited.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf, type Log } from '#base';
import { listenOn, portOf } from '../listen-on.ts';
import { createHttpServer } from './node-http.ts';

export interface TextEndpointOptions {
  /** Without brackets. */
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** Shares the port with other listeners of this user that set it too; false by default. */
  readonly reusePort?: boolean | undefined;
  readonly paths: Readonly<Record<string, TextSource>>;
  readonly log: Log;
}

export interface TextSource {
  readonly contentType: string;
  /** Called for each request. A text alone has status 200. Throws or rejects: the answer is a 500. */
  readonly text: (query: URLSearchParams) => TextAnswer | Promise<TextAnswer>;
}

export type TextAnswer = string | { readonly status: number; readonly text: string };

export interface TextEndpoint {
  readonly port: number;
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 64;
const HEAD_TIMEOUT_MS = 5_000;
const IDLE_TIMEOUT_MS = 30_000;
const MAX_HEAD_BYTES = 8_192;

/** Rejects with `port-taken` or `cannot-listen`. */
export async function openTextEndpoint(options: TextEndpointOptions): Promise<TextEndpoint> {
  const { host, port, reusePort, log } = options;
  const server = createHttpServer(
    {
      headersTimeout: HEAD_TIMEOUT_MS,
      requestTimeout: HEAD_TIMEOUT_MS,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: IDLE_TIMEOUT_MS,
      maxHeaderSize: MAX_HEAD_BYTES,
    },
    (request, response) => void answer(options, request, response),
  );
  server.maxConnections = MAX_CONNECTIONS;
  await listenOn(server, { host, port, reusePort }, log);
  return {
    port: portOf(server),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function answer(
  { paths, log }: TextEndpointOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  request.resume();
  const [path = '/', query = ''] = (request.url ?? '/').split('?');
  const source = Object.hasOwn(paths, path) ? paths[path] : undefined;
  const say = (status: number, text: string, contentType: string, more = {}): void => {
    response.writeHead(status, {
      'content-type': contentType,
      'content-length': Buffer.byteLength(text),
      'cache-control': 'no-store',
      ...more,
    });
    response.end(request.method === 'HEAD' ? undefined : text);
  };
  if (source === undefined) say(404, 'not found\n', 'text/plain');
  else if (request.method !== 'GET' && request.method !== 'HEAD')
    say(405, 'only GET is supported\n', 'text/plain', { allow: 'GET, HEAD' });
  else {
    try {
      const answered = await source.text(new URLSearchParams(query));
      const { status, text } = typeof answered === 'string' ? { status: 200, text: answered } : answered;
      say(status, text, source.contentType);
    } catch (error) {
      log.error({ path, cause: messageOf(error) }, 'the text of an endpoint could not be written');
      say(500, 'internal error\n', 'text/plain');
    }
  }
}
