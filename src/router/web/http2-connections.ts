/**
 * HTTP/2 over TLS connections that a port has accepted. Limits everything that a peer can accumulate: concurrent
 * streams, headers, memory of a session, resets per second, and time.
 */
import { constants, performServerHandshake } from 'node:http2';
import type { IncomingHttpHeaders, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { messageOf, type Log } from '#base';
import type { Answerer } from './web-answer.ts';
import type { WebConnections, WebTimeouts } from './web-connections.ts';

const MAX_STREAMS = 100;
const SESSION_OPTIONS = {
  maxSessionMemory: 2,
  maxSessionInvalidFrames: 100,
  maxSessionRejectedStreams: 100,
  maxHeaderListPairs: 100,
  maxOutstandingPings: 10,
  settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: 16_384, enablePush: false },
};

export class Http2Connections implements WebConnections {
  readonly #timeouts: WebTimeouts;
  readonly #answer: Answerer;
  readonly #log: Log;
  readonly #sessions = new Set<ServerHttp2Session>();

  constructor(timeouts: WebTimeouts, answer: Answerer, log: Log) {
    this.#timeouts = timeouts;
    this.#answer = answer;
    this.#log = log;
  }

  take(socket: TLSSocket): void {
    const session = performServerHandshake(socket, SESSION_OPTIONS);
    this.#sessions.add(session);
    const { readTimeoutMs, idleTimeoutMs } = this.#timeouts;
    let open = 0;
    let idle = setTimeout(() => session.destroy(), readTimeoutMs);
    session.on('stream', (stream, headers) => {
      open += 1;
      clearTimeout(idle);
      stream.once('close', () => {
        open -= 1;
        if (open > 0 || session.destroyed) return;
        idle = setTimeout(() => session.destroy(), idleTimeoutMs);
      });
      void this.#onStream(session, stream, headers);
    });
    session.on('error', (error) => this.#log.debug({ err: messageOf(error) }, 'HTTP/2 session failed'));
    session.once('close', () => {
      clearTimeout(idle);
      this.#sessions.delete(session);
      socket.destroy();
    });
  }

  closeGently(): void {
    for (const session of this.#sessions) session.close();
  }

  async #onStream(
    session: ServerHttp2Session,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
  ): Promise<void> {
    const { readTimeoutMs, writeTimeoutMs } = this.#timeouts;
    const readDeadline = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), readTimeoutMs);
    // A client that does not read responses would accumulate streams, so its connection is closed.
    const writeDeadline = setTimeout(() => session.destroy(), writeTimeoutMs);
    stream.once('end', () => clearTimeout(readDeadline));
    stream.once('finish', () => clearTimeout(writeDeadline));
    stream.once('close', () => {
      clearTimeout(readDeadline);
      clearTimeout(writeDeadline);
    });
    stream.on('error', (error) => this.#log.debug({ err: messageOf(error) }, 'HTTP/2 stream failed'));
    stream.resume();
    const method = String(headers[':method'] ?? 'GET');
    try {
      const { headers: answerHeaders, body } = await this.#answer({
        method,
        target: String(headers[':path'] ?? '/'),
        acceptEncoding: headers['accept-encoding']?.toString(),
      });
      if (stream.destroyed) return;
      const endStream = method === 'HEAD';
      stream.respond({ ':status': 200, ...answerHeaders }, { endStream });
      if (!endStream) stream.end(body);
    } catch (error) {
      this.#log.error({ err: messageOf(error) }, 'web answer failed');
      session.destroy();
    }
  }
}
