/**
 * Queries over UDP, received by a thread of their own (ADR 0049). The thread answers those for names that have an address;
 * the others come here, and their answers leave by the same socket. If the thread fails, a socket of Node goes on with the
 * descriptor. Linux only.
 */
import { Worker } from 'node:worker_threads';
import { messageOf, type Clock, type Log } from '#base';
import { contain } from '#net';
import { openUdpSocket } from '#net/datagrams';
import {
  int,
  openRawSocket,
  SO_RCVBUF,
  SO_RCVTIMEO,
  SOCK_DGRAM,
  SOL_SOCKET,
  timeval,
  type RawSocket,
} from '../machine/raw-socket.ts';
import { readSocketAddress, type SocketAddress, type SocketCalls } from '../machine/socket-calls.ts';
import { DatagramRing, type SourcedDatagram } from './datagram-ring.ts';
import type { InterceptedNames, NameRecord } from './intercepted-names.ts';
import {
  CHANGES,
  COUNTERS,
  DROPPED,
  ENDS,
  type NameChange,
  type QueryThreadData,
} from './query-intake-thread.ts';
import { LATER, type QueryResponder } from './query-responder.ts';
import { QuerySender } from './query-socket.ts';
import { DatagramClients } from './datagram-clients.ts';

/** Queries that are taken before the event loop goes on. */
const MAX_TAKEN = 32;
const WARNING_INTERVAL_MS = 60_000;
const SHUT_RDWR = 2;
/** How often the thread looks for changes of names while no query comes. */
const RECEIVE_TIMEOUT_MS = 500;
const RECEIVE_BUFFER_BYTES = 1024 * 1024;

export interface QueryIntakeOptions {
  readonly calls: SocketCalls;
  readonly at: SocketAddress;
  readonly names: InterceptedNames;
  readonly responder: QueryResponder;
  /** Place of the option, for messages: file, line and key. */
  readonly place: string;
  readonly clock: Clock;
  readonly log: Log;
}

export class QueryIntake {
  readonly port: number;
  readonly #options: QueryIntakeOptions;
  readonly #fd: number;
  readonly #sender: QuerySender;
  readonly #ring = new DatagramRing();
  readonly #counters = new Int32Array(new SharedArrayBuffer(COUNTERS * Int32Array.BYTES_PER_ELEMENT));
  #worker: Worker | undefined;
  #ended: Promise<void> = Promise.resolve();
  /** What receives in place of a thread that failed. It owns the descriptor. */
  #successor: DatagramClients | undefined;
  #unfollow: () => void = () => {};
  #isClosed = false;
  #warnedMs = Number.NEGATIVE_INFINITY;
  #warnedDrops = 0;

  /** Opens the socket. @throws FrontdoorError `unavailable` if the system refuses it. */
  constructor(options: QueryIntakeOptions) {
    const { calls, at } = options;
    this.#options = options;
    const { fd, port } = openQuerySocket(calls, at);
    this.#fd = fd;
    this.port = port;
    this.#sender = new QuerySender(calls, fd);
  }

  /** Starts to receive. Resolves when queries are received, by the thread or what takes its place. */
  async start(): Promise<void> {
    const { names, responder, log } = this.#options;
    const workerData: QueryThreadData = {
      fd: this.#fd,
      counters: this.#counters.buffer,
      ring: this.#ring.shared,
      askedTimes: names.askedTimes.shared,
      isRecursive: responder.isRecursive,
    };
    const worker = new Worker(new URL('./query-intake-thread.ts', import.meta.url), {
      workerData,
      name: 'frontdoor-dns',
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 },
    });
    this.#worker = worker;
    const receives = Promise.withResolvers<void>();
    worker.once('message', () => receives.resolve());
    worker.on('error', (error) =>
      log.error({ err: messageOf(error) }, 'the thread of the name server failed'),
    );
    this.#ended = new Promise((resolve) =>
      worker.once('exit', () => {
        this.#onEnded();
        receives.resolve();
        resolve();
      }),
    );
    this.#tell(names.answerable().map((record) => changeOf(record, record.addressBytes)));
    this.#unfollow = names.followAnswers({
      answerable: (record) => this.#tell([changeOf(record, record.addressBytes)]),
      released: (record) => this.#tell([changeOf(record, undefined)]),
    });
    this.#take();
    await receives.promise;
  }

  /** Resolves when the thread has ended and the socket is closed. */
  async close(): Promise<void> {
    if (this.#isClosed) return this.#ended;
    this.#isClosed = true;
    this.#unfollow();
    this.#ring.wake();
    Atomics.store(this.#counters, ENDS, 1);
    const { calls } = this.#options;
    // It wakes the thread. The system returns an error, because the socket has no peer, and does it all the same.
    if (this.#successor === undefined) calls.shutdown(this.#fd, SHUT_RDWR);
    await this.#ended;
    if (this.#successor === undefined) calls.close(this.#fd);
    else this.#successor.close();
  }

  /** The thread reads the change before its next answer. */
  #tell(changes: readonly NameChange[]): void {
    this.#worker?.postMessage(changes);
    Atomics.add(this.#counters, CHANGES, 1);
  }

  #onEnded(): void {
    this.#worker = undefined;
    this.#unfollow();
    if (this.#isClosed) return;
    const { at, responder, place, log } = this.#options;
    log.error({ listener: place }, 'queries are answered without the thread of the name server');
    const socket = openUdpSocket(at.address.includes(':') ? 'udp6' : 'udp4');
    this.#successor = new DatagramClients({ socket, responder, place, log });
    this.#successor.start();
    socket.bind({ fd: this.#fd });
  }

  /** Takes queries that the thread has passed on, and goes on when there are more. */
  #take(): void {
    if (this.#isClosed) return;
    for (let taken = 0; taken < MAX_TAKEN; taken += 1) {
      const datagram = this.#ring.shift();
      if (datagram === undefined) break;
      this.#answer(datagram);
    }
    this.#warnOfDrops();
    const next = this.#ring.wait();
    if (next === undefined) setImmediate(() => this.#take());
    else void next.then(() => this.#take());
  }

  #answer({ data, source }: SourcedDatagram): void {
    const { responder, log } = this.#options;
    const { address } = readSocketAddress(source);
    contain({ kind: 'query', id: `of ${address}`, log }, () => {
      const answer = responder.answer(data);
      if (answer !== LATER) this.#send(answer, source);
      else responder.answerLater(data, { address, isStream: false }, (later) => this.#send(later, source));
    });
  }

  #send(answer: Buffer | undefined, source: Buffer): void {
    // Answers that wait can outlive the socket.
    if (answer !== undefined && !this.#isClosed) this.#sender.send(answer, source);
  }

  #warnOfDrops(): void {
    const dropped = Atomics.load(this.#counters, DROPPED);
    if (dropped === this.#warnedDrops) return;
    const { place, clock, log } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#warnedMs < WARNING_INTERVAL_MS) return;
    this.#warnedMs = nowMs;
    log.warn(
      { listener: place, queries: dropped - this.#warnedDrops },
      'queries were dropped, because they came too fast',
    );
    this.#warnedDrops = dropped;
  }
}

function openQuerySocket(calls: SocketCalls, at: SocketAddress): RawSocket {
  return openRawSocket(calls, at, {
    ...{ type: SOCK_DGRAM, kind: 'UDP' },
    setOptions: (set) => {
      set(SOL_SOCKET, SO_RCVTIMEO, timeval(RECEIVE_TIMEOUT_MS));
      set(SOL_SOCKET, SO_RCVBUF, int(RECEIVE_BUFFER_BYTES));
    },
  });
}

function changeOf({ wire, place }: NameRecord, addressBytes: Uint8Array | undefined): NameChange {
  return { wire, place, addressBytes };
}
