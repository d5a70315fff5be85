/**
 * The service behind a guarded share. It answers with the request that it received, echoes WebSocket messages, sends
 * endless answers on paths of their own, and counts requests by host.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

export interface OriginRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface GuardedOrigin {
  readonly port: number;
  /** URL for `share`. */
  readonly target: string;
  /** Requests that came for this host, upgrades too; of all hosts when none is named. */
  hits(host?: string): number;
  /** The latest that came for this host. */
  last(host: string): OriginRequest;
  close(): Promise<void>;
}

const TICK_MS = 100;
const CHUNK = Buffer.alloc(1_024, 'x');

export async function startGuardedOrigin(): Promise<GuardedOrigin> {
  const counts = new Map<string, number>();
  const latest = new Map<string, OriginRequest>();
  let total = 0;
  const note = (request: IncomingMessage): OriginRequest => {
    const host = hostOf(request);
    total += 1;
    counts.set(host, (counts.get(host) ?? 0) + 1);
    const { method = '', url = '' } = request;
    const seen = { method, url, headers: { ...request.headers } as Record<string, string> };
    latest.set(host, seen);
    return seen;
  };
  const server = createServer((request, response) => {
    // Browsers request it at any time, and no test does: it is not counted.
    if (request.url === '/favicon.ico') response.writeHead(404).end();
    else answer(request, response, note(request));
  });
  const sockets = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    note(request);
    sockets.handleUpgrade(request, socket, head, (peer) => {
      peer.on('message', (data, isBinary) => peer.send(data as Buffer, { binary: isBinary }));
      peer.on('error', () => {});
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    target: `http://127.0.0.1:${port}`,
    hits: (host) => (host === undefined ? total : (counts.get(host) ?? 0)),
    last: (host) => {
      const seen = latest.get(host);
      if (seen === undefined) throw new Error(`nothing came for ${host}: ${[...latest.keys()].join(' ')}`);
      return seen;
    },
    close: async () => {
      sockets.close();
      for (const peer of sockets.clients) peer.terminate();
      server.close();
      server.closeAllConnections();
    },
  };
}

function answer(request: IncomingMessage, response: ServerResponse, seen: OriginRequest): void {
  request.resume();
  if (seen.url.startsWith('/events'))
    keepSending(response, 'text/event-stream', Buffer.from('data: tick\n\n'));
  else if (seen.url.startsWith('/download')) keepSending(response, 'application/octet-stream', CHUNK);
  else {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(seen));
  }
}

function keepSending(response: ServerResponse, type: string, piece: Buffer): void {
  response.writeHead(200, { 'content-type': type });
  response.write(piece);
  const timer = setInterval(() => response.write(piece), TICK_MS);
  response.on('close', () => clearInterval(timer));
}

function hostOf({ headers: { host = '' } }: IncomingMessage): string {
  return host.replace(/:\d+$/, '');
}
