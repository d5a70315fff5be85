/** A private service for tests: a page, bytes of any number, an event stream that the test feeds, WebSocket echo. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';

export interface PrivateService {
  readonly port: number;
  /** Requests that arrived so far, upgrades aside. */
  readonly requestCount: number;
  /** The body of `/bytes/<count>`. */
  bytes(count: number): Iterable<Buffer>;
  /** Sends one event to every open `/events`; resolves once it is written. */
  sendEvent(text: string): Promise<void>;
  close(): Promise<void>;
}

const BLOCK = Buffer.from(Uint8Array.from({ length: 1 << 20 }, (_, i) => (i * 31 + (i >> 8)) & 0xff));

/** SHA-256, in hex. */
export function digestOf(chunks: Iterable<Uint8Array>): string {
  const hash = createHash('sha256');
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}

/** `/` a page, `/bytes/N` N bytes, `/events` server-sent events, `/socket` WebSocket echo. */
export async function startPrivateService(): Promise<PrivateService> {
  const streams = new Set<ServerResponse>();
  let requestCount = 0;
  const server = createServer((request, response) => {
    requestCount += 1;
    const path = request.url ?? '/';
    const bytes = /^\/bytes\/(\d{1,10})$/.exec(path);
    if (path === '/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.flushHeaders();
      streams.add(response);
      response.on('close', () => streams.delete(response));
    } else if (bytes !== null) {
      const count = Number(bytes[1]);
      response.writeHead(200, { 'content-length': count });
      // A client that goes away ends its own answer, nothing else.
      pipeline(Readable.from(blocks(count)), response, () => {});
    } else {
      response.end('private');
    }
  });
  const sockets = new WebSocketServer({ server, path: '/socket' });
  sockets.on('connection', (socket: WebSocket) => {
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
    socket.on('error', () => socket.terminate());
  });
  // A gateway gives up an idle circuit before its service does: by default after 4 s.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get requestCount() {
      return requestCount;
    },
    bytes: blocks,
    sendEvent: async (text) => {
      const sent = [...streams].map(
        (stream) => new Promise<void>((resolve) => stream.write(`data: ${text}\n\n`, () => resolve())),
      );
      await Promise.all(sent);
    },
    close: async () => {
      for (const socket of sockets.clients) socket.terminate();
      sockets.close();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Each block differs from the others: one that is lost, doubled or out of place changes the digest. */
function* blocks(count: number): Generator<Buffer> {
  for (let at = 0; at < count; at += BLOCK.length) {
    const block = Buffer.from(BLOCK);
    block.writeUInt32BE(at / BLOCK.length, 0);
    yield block.subarray(0, Math.min(BLOCK.length, count - at));
  }
}
