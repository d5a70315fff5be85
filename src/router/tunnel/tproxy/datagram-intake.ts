/**
 * Receives the first datagrams of intercepted flows. Node's own sockets do not report the destination that a source sent a
 * datagram to, so a thread receives them by calls of the C library. Each flow then gets a socket of its own, which the
 * system prefers for its later datagrams.
 */
import { Worker } from 'node:worker_threads';
import { messageOf, type Log } from '#base';
import type { SocketAddress, SocketCalls } from '../machine/socket-calls.ts';
import { COUNTERS, DROPPED, ENDS, WAITING_BATCHES, type IntakeThreadData } from './datagram-intake-thread.ts';
import type { InterceptedDatagram } from './datagram-reader.ts';
import { openDatagramIntake } from './transparent-socket.ts';

export interface DatagramIntakeOptions {
  readonly calls: SocketCalls;
  readonly at: SocketAddress;
  readonly log: Log;
  onDatagram(datagram: InterceptedDatagram): void;
}

export class DatagramIntake {
  readonly port: number;
  readonly #counters: Int32Array;
  readonly #worker: Worker;
  readonly #ended: Promise<void>;

  /** @throws FrontdoorError `unavailable` if the system refuses the socket. */
  constructor({ calls, at, log, onDatagram }: DatagramIntakeOptions) {
    const { fd, port } = openDatagramIntake(calls, at);
    this.port = port;
    const shared = new SharedArrayBuffer(COUNTERS * Int32Array.BYTES_PER_ELEMENT);
    const counters = new Int32Array(shared);
    this.#counters = counters;
    const workerData: IntakeThreadData = { fd, shared };
    this.#worker = new Worker(new URL('./datagram-intake-thread.ts', import.meta.url), {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
    });
    this.#worker.on('message', (batch: readonly InterceptedDatagram[]) => {
      Atomics.sub(counters, WAITING_BATCHES, 1);
      for (const datagram of batch) onDatagram(datagram);
    });
    this.#worker.on('error', (error) =>
      log.error({ err: messageOf(error) }, 'the thread that receives intercepted datagrams failed'),
    );
    this.#ended = new Promise((resolve) => this.#worker.once('exit', () => resolve()));
  }

  /** Datagrams that were dropped, because the router took them too slowly. */
  get dropped(): number {
    return Atomics.load(this.#counters, DROPPED);
  }

  /** Resolves when the thread has ended and its socket is closed. */
  close(): Promise<void> {
    Atomics.store(this.#counters, ENDS, 1);
    return this.#ended;
  }
}
