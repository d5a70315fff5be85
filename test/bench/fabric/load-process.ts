// The load generator of ports, for the benchmarks of the fabric and of SDKs: one measurement, its arguments as JSON, its
// result as one line of JSON.
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { latencyOf, type Latency } from '../figure.ts';

/**
 * `requests` are shorter than their answers, as those of a database. `waves` are uploads of 20 MB/s in waves over one
 * connection, beside requests over the others: the rate is that of the waves, the latency that of the requests.
 */
export type LoadKind = 'download' | 'upload' | 'messages' | 'requests' | 'waves' | 'circuits' | 'idle';

export interface LoadArguments {
  readonly kind: LoadKind;
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
}

export interface LoadResult extends Latency {
  /** Bytes, messages or circuits per second; held connections of `idle`. */
  readonly rate: number;
  readonly failed: number;
  /** Bytes, messages or circuits, with those before the time of the rate; absent where they are not counted. */
  readonly total?: number | undefined;
}

const MESSAGE = Buffer.alloc(100, 'm');
/** `pgbench --select-only` sends as much; the service answers with two bytes for each. */
const REQUEST = Buffer.alloc(60, 'r');
const PIECE = Buffer.alloc(50_000, 'u');
const WAVE_MS = 200;
const WAVE_PIECES = (20_000_000 * (WAVE_MS / 1000)) / PIECE.length;
const WARM_UP_MS = 500;
const latencies: number[] = [];
let count = 0;
let total = 0;
let failed = 0;
let isMeasuring = false;
let isOver = false;

function open(port: number): Socket {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  socket.on('error', () => {
    if (!isOver) failed += 1;
    socket.destroy();
  });
  socket.on('end', () => {
    if (!isOver) failed += 1;
  });
  return socket;
}

function add(amount: number): void {
  total += amount;
  if (isMeasuring) count += amount;
}

function addLatency(startedAt: number): void {
  if (isMeasuring) latencies.push((performance.now() - startedAt) * 1000);
}

function download(port: number): void {
  const socket = open(port);
  socket.write('D');
  socket.on('data', (chunk: Buffer) => add(chunk.length));
}

/** Counts what the connection has taken: the buffers on its path are full when the rate is measured. */
function upload(port: number): void {
  const socket = open(port);
  const fill = (): void => {
    while (!isOver && socket.write(PIECE, () => add(PIECE.length)));
  };
  socket.write('U');
  socket.on('drain', fill).once('connect', fill);
}

/** A wave that is not sent when the next one is due takes its place. */
function sendWaves(port: number): void {
  const socket = open(port);
  socket.write('U');
  setInterval(() => {
    if (socket.writableLength > 0) return;
    for (let sent = 0; sent < WAVE_PIECES; sent += 1) socket.write(PIECE, () => add(PIECE.length));
  }, WAVE_MS);
}

/** One request under way at a time. Those beside waves have a latency only. */
function exchange(port: number, service: string, request: Buffer, answerBytes: number): void {
  const socket = open(port);
  let sentAt = 0;
  let left = 0;
  const send = (): void => {
    left = answerBytes;
    sentAt = performance.now();
    socket.write(request);
  };
  socket.write(service);
  socket.once('connect', send);
  socket.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left > 0) return;
    add(kind === 'waves' ? 0 : 1);
    addLatency(sentAt);
    if (!isOver) send();
  });
}

const messages = (port: number): void => exchange(port, 'E', MESSAGE, MESSAGE.length);
const requests = (port: number): void => exchange(port, 'Q', REQUEST, 2 * REQUEST.length);

/** A new connection, one byte there and back, gone; then the next. */
function circuits(port: number): void {
  if (isOver) return;
  const startedAt = performance.now();
  const socket = open(port);
  socket.write('Ex');
  socket.once('data', () => {
    add(1);
    addLatency(startedAt);
    socket.destroy();
  });
  socket.once('close', () => setImmediate(circuits, port));
}

async function idle(port: number, connections: number): Promise<void> {
  for (let at = 0; at < connections; at += 50) {
    await Promise.all(
      Array.from({ length: Math.min(50, connections - at) }, async () => {
        const socket = open(port);
        socket.write('Ex');
        await new Promise<void>((resolve) => {
          socket.once('data', () => {
            count += 1;
            resolve();
          });
          socket.once('close', () => resolve());
        });
      }),
    );
  }
}

function printResult(rate: number): void {
  const result: LoadResult = { rate, ...latencyOf(latencies), failed, total };
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

const { kind, port, connections, seconds } = JSON.parse(process.argv[2]!) as LoadArguments;

if (kind === 'idle') {
  await idle(port, connections);
  printResult(count);
  // The connections are held until this process is killed.
  process.stdin.resume();
} else {
  if (kind === 'waves') sendWaves(port);
  const start = { download, upload, messages, requests, waves: requests, circuits }[kind];
  for (let i = 0; i < connections; i += 1) start(port);
  await pause(WARM_UP_MS);
  isMeasuring = true;
  const startedAt = performance.now();
  await pause(seconds * 1000);
  isMeasuring = false;
  isOver = true;
  printResult(count / ((performance.now() - startedAt) / 1000));
  process.exit(0);
}
