/**
 * The thread of a `QueryIntake`: answers queries for names that have an address now, and passes all others to the router,
 * which decides. It blocks until a query comes, so it reads changes of names before each answer.
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import { socketCalls } from '../machine/socket-calls.ts';
import { AskedTimes } from './asked-times.ts';
import { DatagramRing } from './datagram-ring.ts';
import { encodeNameAnswer } from './dns-answer.ts';
import { CLASS_IN, DnsQuery, TRANSFER_TYPES } from './dns-query.ts';
import { QueryReceiver, QuerySender } from './query-socket.ts';

export interface QueryThreadData {
  readonly fd: number;
  /** The counters below. */
  readonly counters: SharedArrayBuffer;
  /** Memory of a `DatagramRing` for queries that the router answers. */
  readonly ring: SharedArrayBuffer;
  /** Memory of `AskedTimes`. */
  readonly askedTimes: SharedArrayBuffer;
  /** Whether there are upstreams, which answers say. */
  readonly isRecursive: boolean;
}

/** A name has an address from now on, or none any more. */
export interface NameChange {
  readonly wire: string;
  /** The place of the name in `AskedTimes`. */
  readonly place: number;
  readonly addressBytes: Uint8Array | undefined;
}

/** Indexes of the shared counters: changes of names since the start, dropped queries, and whether to end. */
export const CHANGES = 0;
export const DROPPED = 1;
export const ENDS = 2;
export const COUNTERS = 3;

/** The message to the router when the thread is about to receive. */
export const RECEIVES = 'receives';
/** A socket from which this number of calls in a row return at once cannot be read. */
const MAX_FAILURES = 100;
const FAILURES_MS = 1_000;

interface Known {
  readonly place: number;
  readonly addressBytes: Uint8Array;
}

/** The names that have an address, by the messages of the router. */
class KnownNames {
  readonly #counters: Int32Array;
  readonly #names = new Map<string, Known>();
  #changes = 0;

  constructor(counters: Int32Array) {
    this.#counters = counters;
  }

  /** Returns what is known of a name now. `askedTimes` notes that it was asked for. */
  find(wire: string, askedTimes: AskedTimes): Known | undefined {
    for (;;) {
      this.update();
      const known = this.#names.get(wire);
      if (known === undefined) return undefined;
      askedTimes.note(known.place, Date.now());
      // The router takes an address away before it looks at the time, so that it sees the query, or the query the change.
      if (Atomics.load(this.#counters, CHANGES) === this.#changes) return known;
    }
  }

  /** Reads all changes that the router had counted when this began. Each message comes before its count. */
  update(): void {
    const changes = Atomics.load(this.#counters, CHANGES);
    if (changes === this.#changes) return;
    for (;;) {
      const received = receiveMessageOnPort(parentPort!);
      if (received === undefined) break;
      for (const { wire, place, addressBytes } of received.message as readonly NameChange[])
        if (addressBytes === undefined) this.#names.delete(wire);
        else this.#names.set(wire, { place, addressBytes });
    }
    this.#changes = changes;
  }
}

/** Ends when the router asks for it. */
async function answerQueries(data: QueryThreadData): Promise<void> {
  const calls = await socketCalls();
  const receiver = new QueryReceiver(calls, data.fd);
  const sender = new QuerySender(calls, data.fd);
  const counters = new Int32Array(data.counters);
  const names = new KnownNames(counters);
  const askedTimes = new AskedTimes(data.askedTimes);
  const ring = new DatagramRing(data.ring);
  const query = new DnsQuery();
  const answerOf = (message: Buffer): Buffer | undefined => {
    if (query.decode(message) !== undefined || query.class !== CLASS_IN) return undefined;
    if (TRANSFER_TYPES.includes(query.type)) return undefined;
    const known = names.find(query.name, askedTimes);
    if (known === undefined) return undefined;
    return encodeNameAnswer(message, query, known.addressBytes, data.isRecursive);
  };
  parentPort!.postMessage(RECEIVES);
  let failures = 0;
  let failingSinceMs = 0;
  while (Atomics.load(counters, ENDS) === 0) {
    const message = receiver.receive();
    if (message === undefined) {
      names.update();
      const nowMs = Date.now();
      if (nowMs - failingSinceMs > FAILURES_MS) {
        failingSinceMs = nowMs;
        failures = 0;
      }
      failures += 1;
      if (failures > MAX_FAILURES) throw new Error('the socket for queries cannot be read');
      continue;
    }
    let answer: Buffer | undefined;
    try {
      answer = answerOf(message);
    } catch {
      // The router answers it, or reports why it cannot.
    }
    if (answer !== undefined) sender.send(answer, receiver.source);
    else if (!ring.push(receiver.source, message)) Atomics.add(counters, DROPPED, 1);
  }
}

if (parentPort !== null) void answerQueries(workerData as QueryThreadData);
