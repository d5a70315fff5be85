/**
 * The private service of load rows, a process of its own: `/` answers a word, `/bytes/N` N bytes as fast as they are
 * taken, `/echo` the body, `/sink` takes a body slowly until `/hurry`, and an upgrade echoes. `/counts` answers with
 * `ServiceCounts`.
 */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import process from 'node:process';
import { pipeline, Readable } from 'node:stream';

export interface ServiceCounts {
  /** Bytes of `/bytes/N` that were asked of the producer so far. */
  readonly produced: number;
  /** Bytes of `/sink` that were taken so far. */
  readonly taken: number;
  readonly openSockets: number;
  readonly requests: number;
}

const BLOCK = Buffer.from(Uint8Array.from({ length: 65_536 }, (_, i) => (i * 31 + (i >> 8)) & 0xff));
const SLOW_BYTES_PER_S = 10_240;
const SLOW_LOOK_MS = 100;

let produced = 0;
let taken = 0;
let requests = 0;
let isSlow = true;
const sockets = new Set<Socket>();

const server = createServer({ keepAliveTimeout: 120_000, requestTimeout: 0 }, (request, response) => {
  requests += 1;
  const path = request.url ?? '/';
  const bytes = /^\/bytes\/(\d{1,12})$/.exec(path);
  if (bytes !== null) {
    const count = Number(bytes[1]);
    response.writeHead(200, { 'content-length': count });
    pipeline(Readable.from(blocks(count), { highWaterMark: 1 }), response, () => {});
  } else if (path === '/echo') echo(request, response);
  else if (path === '/sink') void sink(request, response);
  else if (path === '/hurry') {
    isSlow = false;
    response.end('ok');
  } else if (path === '/counts') {
    response.end(
      JSON.stringify({ produced, taken, openSockets: sockets.size, requests } satisfies ServiceCounts),
    );
  } else {
    request.resume();
    response.end('served');
  }
});
server.on('connection', (socket: Socket) => {
  sockets.add(socket);
  socket.on('close', () => sockets.delete(socket));
  socket.on('error', () => {});
});
server.on('upgrade', (_request, socket) => {
  socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  socket.on('data', (bytes: Buffer) => socket.write(bytes));
  socket.on('end', () => socket.end());
});
server.maxConnections = 0x7fff;
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => {
  process.send?.((server.address() as AddressInfo).port);
});
process.on('disconnect', () => process.exit(0));

function* blocks(count: number): Generator<Buffer> {
  for (let at = 0; at < count; at += BLOCK.length) {
    const block = Buffer.from(BLOCK);
    block.writeUInt32BE(at / BLOCK.length, 0);
    const piece = block.subarray(0, Math.min(BLOCK.length, count - at));
    produced += piece.length;
    yield piece;
  }
}

function echo(request: IncomingMessage, response: ServerResponse): void {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('error', () => {});
  request.on('end', () => response.end(Buffer.concat(pieces)));
}

/** Takes 10 KiB a second while it is slow; answers with the digest of everything. */
async function sink(request: IncomingMessage, response: ServerResponse): Promise<void> {
  isSlow = true;
  const hash = createHash('sha256');
  let mayTake = 0;
  request.on('error', () => {});
  try {
    for await (const piece of request as AsyncIterable<Buffer>) {
      hash.update(piece);
      taken += piece.length;
      mayTake -= piece.length;
      while (isSlow && mayTake < 0 && !request.destroyed) {
        await new Promise((resolve) => setTimeout(resolve, SLOW_LOOK_MS));
        mayTake += (SLOW_BYTES_PER_S * SLOW_LOOK_MS) / 1_000;
      }
    }
    response.end(hash.digest('hex'));
  } catch {
    // The client went away.
  }
}
