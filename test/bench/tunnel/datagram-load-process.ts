// The datagrams of the tunnel's benchmark: sources that each have one datagram under way. Its arguments are JSON, its result
// is one line of JSON. As `echo`, it is the service instead: it returns every datagram, and prints its port.
import { createSocket, type Socket } from 'node:dgram';
import { setTimeout as pause } from 'node:timers/promises';
import { latencyOf, type Latency } from '../figure.ts';

export interface DatagramArguments {
  readonly kind: 'echo' | 'load';
  /** 127.0.0.1 by default. */
  readonly host?: string | undefined;
  readonly port: number;
  readonly sources: number;
  readonly seconds: number;
}

export interface DatagramResult extends Latency {
  /** Datagrams there and back per second. */
  readonly rate: number;
  /** Datagrams that did not return in time. */
  readonly lost: number;
}

const HOST = '127.0.0.1';
const DATAGRAM_BYTES = 100;
/** A datagram that has not returned by then counts as lost. The first of a source waits for its circuit. */
const LOST_MS = 2_000;
const WARM_UP_MS = 3_000;
const BUFFER_BYTES = 4 * 1024 * 1024;
const latencies: number[] = [];
let count = 0;
let lost = 0;
let isMeasuring = false;

function open(): Socket {
  return createSocket({ type: 'udp4', recvBufferSize: BUFFER_BYTES, sendBufferSize: BUFFER_BYTES });
}

function echo(): void {
  const socket = open();
  socket.on('message', (datagram, { port, address }) => socket.send(datagram, port, address));
  socket.bind(0, HOST, () => console.log(socket.address().port));
}

function source(port: number): void {
  const socket = open();
  const datagram = Buffer.alloc(DATAGRAM_BYTES, 'd');
  let sequence = 0;
  let sentAt = 0;
  let timer: NodeJS.Timeout | undefined;
  const send = (): void => {
    datagram.writeUInt32LE((sequence += 1), 0);
    sentAt = performance.now();
    socket.send(datagram, port, host);
    timer ??= setTimeout(onLate, LOST_MS);
    timer.refresh();
  };
  const onLate = (): void => {
    if (isMeasuring) lost += 1;
    send();
  };
  socket.on('message', (answer) => {
    if (answer.readUInt32LE(0) !== sequence) return;
    if (isMeasuring) {
      count += 1;
      latencies.push((performance.now() - sentAt) * 1000);
    }
    send();
  });
  socket.bind(0, HOST, send);
}

const { kind, host = HOST, port, sources, seconds } = JSON.parse(process.argv[2]!) as DatagramArguments;
if (kind === 'echo') echo();
else {
  for (let index = 0; index < sources; index += 1) source(port);
  await pause(WARM_UP_MS);
  isMeasuring = true;
  const startedAt = performance.now();
  await pause(seconds * 1000);
  isMeasuring = false;
  const result: DatagramResult = {
    rate: count / ((performance.now() - startedAt) / 1000),
    ...latencyOf(latencies),
    lost,
  };
  process.stdout.write(`${JSON.stringify(result)}\n`);
  process.exit(0);
}
