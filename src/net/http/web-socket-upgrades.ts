/**
 * WebSockets at paths of an API server. The request of an upgrade is routed like any other, so that the routes prove the
 * caller and answer refusals; the route then takes the WebSocket. Requests for other upgrades are requests without one.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { RawData, WebSocket, WebSocketServer } from 'ws';
import { HttpServerResponse } from './node-http.ts';

export interface WebSocketHandlers {
  /** Text messages close the connection. */
  onMessage(message: Uint8Array): void;
  onPong(): void;
  /** Called once. */
  onClose(): void;
}

/** A connection whose messages are binary. */
export interface WebSocketMessages {
  /** Bytes that wait for the peer. */
  readonly queuedBytes: number;
  handle(handlers: WebSocketHandlers): void;
  /** `onSent` is called when the message has left the queue, or was lost with the connection. */
  send(message: Uint8Array, onSent: () => void): void;
  ping(): void;
  /** Ends the connection at once. */
  destroy(): void;
}

interface Pending {
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly response: ServerResponse;
}

export class WebSocketUpgrades {
  readonly #maxMessageBytes: number;
  #webSockets: WebSocketServer | undefined;
  readonly #paths = new Set<string>();
  readonly #pending = new WeakMap<IncomingMessage, Pending>();

  constructor(maxMessageBytes: number) {
    this.#maxMessageBytes = maxMessageBytes;
  }

  /** A route of the server takes upgrades at this path. */
  serve(path: string): void {
    this.#paths.add(path);
  }

  /** For the server's `shouldUpgradeCallback`. */
  readonly takes = ({ method, url = '', headers }: IncomingMessage): boolean => {
    const [path = ''] = url.split('?');
    return method === 'GET' && this.#paths.has(path) && headers.upgrade?.toLowerCase() === 'websocket';
  };

  /** `route` answers requests of the server. */
  follow(server: Server, route: RequestListener): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => socket.destroy());
      const response = new HttpServerResponse(request);
      response.shouldKeepAlive = false;
      response.assignSocket(socket as Socket);
      // A refusal ends the connection.
      response.once('finish', () => socket.end(() => socket.destroy()));
      this.#pending.set(request, { socket, head, response });
      route(request, response);
    });
  }

  /** Has to resolve before `accept`. It loads a module that most servers never need. */
  async load(): Promise<void> {
    if (this.#webSockets !== undefined) return;
    const { WebSocketServer: Acceptor } = await import('ws');
    this.#webSockets ??= new Acceptor({
      noServer: true,
      perMessageDeflate: false,
      clientTracking: false,
      maxPayload: this.#maxMessageBytes,
    });
  }

  isUpgrade(request: IncomingMessage): boolean {
    return this.#pending.has(request);
  }

  /** Answers the upgrade and calls `onOpen` at once; not if the handshake is malformed, which is answered with 400. */
  accept(request: IncomingMessage, onOpen: (messages: WebSocketMessages) => void): void {
    const pending = this.#pending.get(request);
    if (pending === undefined || this.#webSockets === undefined) return;
    this.#pending.delete(request);
    const { socket, head, response } = pending;
    response.detachSocket(socket as Socket);
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => onOpen(messagesOf(webSocket)));
  }
}

function messagesOf(webSocket: WebSocket): WebSocketMessages {
  webSocket.on('error', () => webSocket.terminate());
  return {
    get queuedBytes() {
      return webSocket.bufferedAmount;
    },
    handle({ onMessage, onPong, onClose }) {
      webSocket.on('message', (data: RawData, isBinary: boolean) => {
        if (isBinary) onMessage(data as Buffer);
        else webSocket.terminate();
      });
      webSocket.on('pong', onPong);
      webSocket.once('close', onClose);
    },
    send(message, onSent) {
      webSocket.send(message, { binary: true }, onSent);
    },
    ping() {
      if (webSocket.readyState === webSocket.OPEN) webSocket.ping();
    },
    destroy() {
      webSocket.terminate();
    },
  };
}
