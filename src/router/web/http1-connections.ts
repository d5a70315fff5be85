/** HTTP/1.1 over TLS connections that a port has accepted. Uses Node's server, which never listens itself. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import { messageOf, type Log } from '#base';
import { createHttpServer } from '#net/http';
import type { Answerer } from './web-answer.ts';
import type { WebConnections, WebTimeouts } from './web-connections.ts';

const MAX_HEAD_BYTES = 16_384;

export class Http1Connections implements WebConnections {
  readonly #server: Server;
  readonly #timeouts: WebTimeouts;
  readonly #answer: Answerer;
  readonly #log: Log;

  constructor(timeouts: WebTimeouts, answer: Answerer, log: Log) {
    this.#timeouts = timeouts;
    this.#answer = answer;
    this.#log = log;
    const { readTimeoutMs, idleTimeoutMs } = timeouts;
    this.#server = createHttpServer(
      {
        headersTimeout: readTimeoutMs,
        requestTimeout: readTimeoutMs,
        connectionsCheckingInterval: Math.max(10, Math.min(1_000, readTimeoutMs / 4)),
        keepAliveTimeout: idleTimeoutMs,
        keepAliveTimeoutBuffer: 0,
        maxHeaderSize: MAX_HEAD_BYTES,
      },
      (request, response) => void this.#onRequest(request, response),
    );
    // Node starts its timeouts for requests when the server listens. Ours does not listen, because connections are
    // passed to it.
    this.#server.emit('listening');
  }

  take(socket: TLSSocket): void {
    this.#server.emit('connection', socket);
  }

  /** Closes idle connections now, and others after their current response. */
  closeGently(): void {
    this.#server.close(() => {});
  }

  async #onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const deadline = setTimeout(() => request.socket.destroy(), this.#timeouts.writeTimeoutMs);
    response.once('close', () => clearTimeout(deadline));
    request.resume();
    try {
      const { method = 'GET', url = '/', headers } = request;
      const answer = await this.#answer({ method, target: url, acceptEncoding: headersText(headers) });
      response.writeHead(200, answer.headers);
      response.end(answer.body);
    } catch (error) {
      this.#log.error({ err: messageOf(error) }, 'web answer failed');
      request.socket.destroy();
    }
  }
}

function headersText(headers: IncomingMessage['headers']): string | undefined {
  const value = headers['accept-encoding'];
  return Array.isArray(value) ? value.join(',') : value;
}
