// The WebSocket load: its arguments as JSON, its result as one line of JSON. One message under way per connection, each
// answer compared byte by byte.
import type { Socket } from 'node:net';
import { messageOf } from '#base';
import { KeepAliveClient } from '../../support/keep-alive-client.ts';
import type { Sample } from '../bench-run.ts';
import { openClient, type Door } from '../check-client.ts';
import { latencyOf } from '../figure.ts';
import { clientMessage, serverMessage, upgradeRequest } from './websocket-frames.ts';

export interface WebSocketLoad {
  readonly door: Door;
  readonly path: string;
  readonly connections: number;
  readonly seconds: number;
}

/** Its units are messages. */
export interface WebSocketResult extends Sample {
  /** Connections that broke off, were not upgraded or gave other bytes; the first reason. */
  readonly failed: number;
  readonly problem: string;
}

const MESSAGE = 'frontdoor benchmark: sixty-four bytes there and back once again.\n';
const SENT = clientMessage(MESSAGE);
const WANTED = serverMessage(MESSAGE);

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
async function open(): Promise<Socket> {
  const { door, path } = load;
  const socket = openClient(door, () => {});
  socket.on('close', () => {
    if (isOver || failed > 0) return;
    failed += 1;
    problem = 'connection closed';
  });
  const client = new KeepAliveClient(socket);
  try {
    const { status } = await client.ask(upgradeRequest(door.host, path, door.headers));
    if (status !== 101) throw new Error(`upgrade answered ${status}`);
    client.release();
  } catch (error) {
    fail(socket, messageOf(error));
  }
  return socket;
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
    units: messages,
    perSecond: messages / seconds,
    ...latencyOf(latencies),
    failed,
    problem,
  };
  process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(0));
}, load.seconds * 1000);
