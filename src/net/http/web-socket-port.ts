/**
 * TLS inside WebSocket, for clients that can open nothing else, such as browsers: `GET /ws` over TLS (`wss`) or TCP
 * (`ws`) is upgraded, and the messages carry a TLS connection in which the client proves its certificate, as at a
 * `TlsPort`. It follows OpenZiti's transport of that name.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import * as tls from 'node:tls';
import { createWebSocketStream, WebSocketServer, type WebSocket } from 'ws';
import { FrontdoorError, messageOf, type Log } from '#base';
import { listenOn, portOf } from '../listen-on.ts';
import { createHttpServer } from './node-http.ts';
import { ServerCertificates, type ServerTls } from '../server-certificates.ts';
import { handshakeOptions, TlsPort, type ChannelPort, type TlsHandlerOptions } from '../tls-port.ts';
import { UnprovenConnections } from '../unproven-connections.ts';

export interface WebSocketTimes {
  /** From the upgrade to the end of the TLS handshake inside. */
  readonly handshakeTimeoutMs: number;
  /** Time limit for the head of the request. */
  readonly readTimeoutMs: number;
  readonly pingIntervalMs: number;
  /** A connection whose last response to a ping is older at the next ping is closed. */
  readonly pongTimeoutMs: number;
}

export interface WebSocketPortOptions {
  readonly protocol: 'ws' | 'wss';
  /** Without brackets; '' for all interfaces. */
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** What the port belongs to, for errors: file, line and key. */
  readonly place?: string | undefined;
  readonly tls: ServerTls;
  readonly times: WebSocketTimes;
  readonly log: Log;
}

interface Handler {
  readonly protocols: readonly string[];
  onSocket(socket: tls.TLSSocket): void;
}

/** A connection that was upgraded. */
interface Upgraded {
  readonly webSocket: WebSocket;
  lastPongMs: number;
}

const PATH = '/ws';
const MAX_HEAD_BYTES = 16_384;
/** A TLS record has 16 KiB. Clients may send several of them in one message. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
const CHECK_INTERVAL_MS = 1_000;
const NOT_FOUND = 'HTTP/1.1 404 Not Found\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';

export class WebSocketPort implements ChannelPort {
  readonly #options: WebSocketPortOptions;
  readonly #http: Server;
  readonly #webSockets = new WebSocketServer({
    noServer: true,
    path: PATH,
    // The messages are encrypted, so that they cannot be compressed.
    perMessageDeflate: false,
    clientTracking: false,
    maxPayload: MAX_MESSAGE_BYTES,
  });
  readonly #unproven: UnprovenConnections;
  readonly #upgraded = new Set<Upgraded>();
  readonly #pings: NodeJS.Timeout;
  #certificates: ServerCertificates;
  #outer: TlsPort | undefined;
  #handler: Handler | undefined;

  private constructor(options: WebSocketPortOptions) {
    this.#options = options;
    const { tls: identity, times, log } = options;
    this.#certificates = new ServerCertificates(identity);
    this.#http = createHttpServer({
      headersTimeout: times.readTimeoutMs,
      requestTimeout: times.readTimeoutMs,
      connectionsCheckingInterval: Math.min(CHECK_INTERVAL_MS, times.readTimeoutMs),
      maxHeaderSize: MAX_HEAD_BYTES,
      noDelay: true,
    });
    this.#unproven = new UnprovenConnections({}, log);
    this.#unproven.follow(this.#http);
    this.#http.on('request', (_request, response) => {
      response.writeHead(404, { connection: 'close' }).end();
    });
    this.#http.on('upgrade', (request, stream, head) => this.#onUpgrade(request, stream, head));
    this.#pings = setInterval(() => this.#ping(), times.pingIntervalMs);
  }

  /** Rejects as `TlsPort.open` does. */
  static async open(options: WebSocketPortOptions): Promise<WebSocketPort> {
    const port = new WebSocketPort(options);
    try {
      await port.#listen();
      return port;
    } catch (error) {
      clearInterval(port.#pings);
      throw error;
    }
  }

  get port(): number {
    return this.#outer?.port ?? portOf(this.#http);
  }

  /** `protocols` are ALPN names of the connection inside. The options of a handler are those of the port. */
  handle(
    protocols: readonly string[],
    onSocket: (socket: tls.TLSSocket) => void,
    { name = protocols.join(', ') }: TlsHandlerOptions = {},
  ): () => void {
    if (this.#handler !== undefined) {
      const { host, port, protocol } = this.#options;
      const text = `${name} cannot share ${protocol}:${host}:${port} with another listener`;
      throw new FrontdoorError('conflict', 'protocol-taken', text);
    }
    const handler = { protocols, onSocket };
    this.#handler = handler;
    return () => {
      if (this.#handler === handler) this.#handler = undefined;
    };
  }

  setTls(identity: ServerTls): void {
    this.#certificates = new ServerCertificates(identity);
    this.#outer?.setTls(identity);
  }

  async close(): Promise<void> {
    clearInterval(this.#pings);
    this.#handler = undefined;
    if (this.#outer === undefined) this.#http.close();
    else await this.#outer.close();
    this.#http.closeAllConnections();
  }

  async #listen(): Promise<void> {
    const { protocol, host, port, place, tls: identity, times, log } = this.#options;
    if (protocol === 'ws') {
      await listenOn(this.#http, { host, port, place }, log);
      return;
    }
    const { handshakeTimeoutMs } = times;
    this.#outer = await TlsPort.open({ host, port, place, tls: identity, handshakeTimeoutMs, log });
    this.#outer.handle(['http/1.1', ''], (socket) => this.#http.emit('connection', socket), {
      name: 'the WebSocket listener',
      // A browser would ask its user for one.
      requestsCertificate: false,
    });
    // Node starts its timeouts for requests when the server listens.
    this.#http.emit('listening');
  }

  #onUpgrade(request: IncomingMessage, stream: Duplex, head: Buffer): void {
    const handler = this.#handler;
    const outer = request.socket;
    stream.on('error', () => stream.destroy());
    if (!this.#webSockets.shouldHandle(request) || handler === undefined) {
      stream.end(NOT_FOUND, () => stream.destroy());
      return;
    }
    this.#webSockets.handleUpgrade(request, stream, head, (webSocket) =>
      this.#onWebSocket(webSocket, handler, outer),
    );
  }

  #onWebSocket(webSocket: WebSocket, handler: Handler, outer: Socket): void {
    const { log, times } = this.#options;
    const { remoteAddress, remotePort } = outer;
    const peer = `${remoteAddress}:${remotePort}`;
    const upgraded: Upgraded = { webSocket, lastPongMs: performance.now() };
    this.#upgraded.add(upgraded);
    webSocket.on('pong', () => (upgraded.lastPongMs = performance.now()));
    const stream = createWebSocketStream(webSocket);
    const certificates = this.#certificates;
    const socket = new tls.TLSSocket(stream, {
      ...handshakeOptions(() => ({ protocols: handler.protocols, certificates })),
      isServer: true,
      secureContext: certificates.contextFor(''),
    });
    // The stream inside has no address of its own.
    Object.defineProperties(socket, {
      remoteAddress: { value: remoteAddress },
      remotePort: { value: remotePort },
    });
    const fail = (reason: string): void => {
      log.info({ peer, reason }, 'TLS handshake inside a WebSocket failed');
      webSocket.terminate();
    };
    const deadline = setTimeout(() => fail('not completed in time'), times.handshakeTimeoutMs);
    let isSecure = false;
    socket.on('error', (error) => {
      if (!isSecure) fail(messageOf(error));
    });
    socket.on('close', () => webSocket.terminate());
    stream.on('error', () => webSocket.terminate());
    webSocket.on('close', () => {
      clearTimeout(deadline);
      this.#upgraded.delete(upgraded);
      socket.destroy();
    });
    socket.once('secure', () => {
      isSecure = true;
      clearTimeout(deadline);
      this.#unproven.prove(outer);
      if (this.#handler === handler) handler.onSocket(socket);
      else socket.destroy();
    });
  }

  #ping(): void {
    const { pongTimeoutMs } = this.#options.times;
    const nowMs = performance.now();
    for (const { webSocket, lastPongMs } of this.#upgraded) {
      if (nowMs - lastPongMs > pongTimeoutMs) webSocket.terminate();
      else webSocket.ping();
    }
  }
}
