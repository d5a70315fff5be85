// The load generator of ports, for the benchmarks of the fabric and of SDKs: one measurement, its arguments as JSON, its
// result as one line of JSON.
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { latencyOf, type Latency } from '../figure.ts';

export type LoadKind = 'download' | 'messages' | 'circuits' | 'idle';

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
}

const MESSAGE = Buffer.alloc(100, 'm');
const WARM_UP_MS = 500;
const latencies: number[] = [];
let count = 0;
let failed = 0;
let isMeasuring = false;
let isOver = false;

function open(port: number): Socket {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true });
  socket.on('error', () => {
    if (!isOver) failed += 1;
    socket.destroy();
  });
  return socket;
}

function download(port: number): void {
  const socket = open(port);
  socket.write('D');
  socket.on('data', (chunk: Buffer) => {
    if (isMeasuring) count += chunk.length;
  });
}

/** One message under way at a time. */
function messages(port: number): void {
  const socket = open(port);
  let sentAt = 0;
  let left = 0;
  const send = (): void => {
    left = MESSAGE.length;
    sentAt = performance.now();
    socket.write(MESSAGE);
  };
  socket.write('E');
  socket.once('connect', send);
  socket.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left > 0) return;
    if (isMeasuring) {
      count += 1;
      latencies.push((performance.now() - sentAt) * 1000);
    }
    if (!isOver) send();
  });
}

/** A new connection, one byte there and back, gone; then the next. */
function circuits(port: number): void {
  if (isOver) return;
  const startedAt = performance.now();
  const socket = open(port);
  socket.write('Ex');
  socket.once('data', () => {
    if (isMeasuring) {
      count += 1;
      latencies.push((performance.now() - startedAt) * 1000);
    }
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
  const result: LoadResult = { rate, ...latencyOf(latencies), failed };
  process.stdout.write(`${JSON.stringify(result)}\n`);
}

const { kind, port, connections, seconds } = JSON.parse(process.argv[2]!) as LoadArguments;

if (kind === 'idle') {
  await idle(port, connections);
  printResult(count);
  // The connections are held until this process is killed.
  process.stdin.resume();
} else {
  const start = { download, messages, circuits }[kind];
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
