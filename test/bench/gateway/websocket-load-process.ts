// The WebSocket load: its arguments as JSON, its result as one line of JSON. One message under way per connection, each
// answer compared byte by byte.
import type { Socket } from 'node:net';
import { openClient, type ClientEntrance } from '../check-client.ts';
import { latencyOf, type Latency } from '../figure.ts';
import { clientMessage, serverMessage, upgradeRequest } from './websocket-frames.ts';

export interface WebSocketLoad {
  readonly port: number;
  readonly host: string;
  readonly path: string;
  readonly entrance: ClientEntrance;
  readonly connections: number;
  readonly seconds: number;
}

export interface WebSocketResult extends Latency {
  readonly messages: number;
  readonly messagesPerSecond: number;
  /** Connections that broke off, were not upgraded or gave other bytes; the first reason. */
  readonly failed: number;
  readonly problem: string;
}

const MESSAGE = 'frontdoor benchmark: sixty-four bytes there and back once again.\n';
const SENT = clientMessage(MESSAGE);
const WANTED = serverMessage(MESSAGE);
const HEAD_END = Buffer.from('\r\n\r\n');

const latencies: number[] = [];
let messages = 0;
let failed = 0;
let problem = '';
let isOver = false;

const load = JSON.parse(process.argv[2]!) as WebSocketLoad;

function fail(socket: Socket, why: string): void {
  if (isOver || socket.destroyed) return;
  failed += 1;
  problem ||= why;
  socket.destroy();
}

/** Resolves when the connection is upgraded, or has failed. */
function open(): Promise<Socket> {
  const { promise, resolve } = Promise.withResolvers<Socket>();
  const { port, host, path, entrance } = load;
  const socket = openClient(port, host, entrance, () =>
    socket.write(upgradeRequest(host, path, entrance.headers)),
  );
  let head = Buffer.alloc(0);
  const onHead = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(HEAD_END);
    if (end < 0) return;
    const line = head.subarray(0, 12).toString('latin1');
    if (line !== 'HTTP/1.1 101') fail(socket, `upgrade answered ${line}`);
    else if (head.length > end + HEAD_END.length) fail(socket, 'bytes before the first message');
    socket.off('data', onHead);
    resolve(socket);
  };
  socket.on('data', onHead);
  socket.on('error', (error) => fail(socket, error.message));
  socket.on('close', () => {
    if (!isOver && failed === 0) {
      failed += 1;
      problem = 'connection closed';
    }
    resolve(socket);
  });
  return promise;
}

function talk(socket: Socket): void {
  let sentMs = 0;
  let have = 0;
  const send = (): void => {
    have = 0;
    sentMs = performance.now();
    socket.write(SENT);
  };
  socket.on('data', (chunk: Buffer) => {
    const end = have + chunk.length;
    if (end > WANTED.length || WANTED.compare(chunk, 0, chunk.length, have, end) !== 0) {
      fail(socket, 'other bytes than were sent');
      return;
    }
    have = end;
    if (have < WANTED.length) return;
    messages += 1;
    latencies.push((performance.now() - sentMs) * 1000);
    if (!isOver) send();
  });
  send();
}

const sockets = await Promise.all(Array.from({ length: load.connections }, open));
const startedMs = performance.now();
for (const socket of sockets) if (!socket.destroyed) talk(socket);
setTimeout(() => {
  isOver = true;
  const seconds = (performance.now() - startedMs) / 1000;
  const result: WebSocketResult = {
    messages,
    messagesPerSecond: messages / seconds,
    ...latencyOf(latencies),
    failed,
    problem,
  };
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}, load.seconds * 1000);
