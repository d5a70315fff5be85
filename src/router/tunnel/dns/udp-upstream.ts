/**
 * Queries to an upstream over UDP. Each leaves from a random one of several connected sockets with a random id, and sockets
 * are replaced after some queries, so that nobody else can guess both (RFC 5452). The next socket is open before it is
 * necessary, so that no query waits for it. The kernel drops what comes from other addresses, and reports an upstream
 * that has no socket.
 */
import type { Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { openUdpSocket } from '#net/datagrams';
import { isAnswerTo, randomId, withId, type UpstreamAnswered, type UpstreamQuery } from './upstream-query.ts';

const MAX_SOCKETS = 32;
/** A socket is replaced after a random number of queries: at most this one, and at least half of it. */
const MAX_QUERIES_PER_SOCKET = 256;

interface Asked {
  readonly query: UpstreamQuery;
  readonly answered: UpstreamAnswered;
}

/** One socket, and the queries that it waits for by their ids. */
class UpstreamSocket {
  readonly #socket: Socket;
  readonly #asked = new Map<number, Asked>();
  readonly #onClosed: () => void;
  #queriesLeft = MAX_QUERIES_PER_SOCKET - Math.floor((Math.random() * MAX_QUERIES_PER_SOCKET) / 2);
  #isConnected = false;
  #isClosed = false;
  #waiting: Buffer[] = [];

  constructor(address: string, port: number, onClosed: (socket: UpstreamSocket) => void) {
    this.#onClosed = () => onClosed(this);
    this.#socket = openUdpSocket(isIPv6(address) ? 'udp6' : 'udp4');
    this.#socket.on('message', (message) => this.#receive(message));
    this.#socket.on('error', () => this.close());
    this.#socket.connect(port, address, (error?: Error | null) => {
      if (error !== undefined && error !== null) this.close();
      else if (!this.#isClosed) this.#sendWaiting();
    });
  }

  get isSpent(): boolean {
    return this.#isClosed || this.#queriesLeft === 0;
  }

  /** Returns a function that stops waiting. */
  ask(asked: Asked): () => void {
    this.#queriesLeft -= 1;
    const id = randomId(this.#asked);
    this.#asked.set(id, asked);
    const message = withId(asked.query.message, id);
    if (this.#isConnected) this.#socket.send(message);
    else this.#waiting.push(message);
    return () => {
      this.#asked.delete(id);
      this.#closeIfDone();
    };
  }

  /** Closes the socket. Queries without an answer have none. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#socket.close();
    this.#onClosed();
    const lost = [...this.#asked.values()];
    this.#asked.clear();
    for (const { answered } of lost) answered(undefined);
  }

  #sendWaiting(): void {
    this.#isConnected = true;
    for (const message of this.#waiting) this.#socket.send(message);
    this.#waiting = [];
  }

  #receive(message: Buffer): void {
    const id = message.length < 2 ? -1 : message.readUInt16BE(0);
    const asked = this.#asked.get(id);
    if (asked === undefined || !isAnswerTo(asked.query, message)) return;
    this.#asked.delete(id);
    asked.answered(message);
    this.#closeIfDone();
  }

  #closeIfDone(): void {
    if (this.isSpent && this.#asked.size === 0) this.close();
  }
}

export class UdpUpstream {
  readonly #address: string;
  readonly #port: number;
  /** Those that are used for new queries. */
  readonly #sockets: (UpstreamSocket | undefined)[] = Array.from({ length: MAX_SOCKETS });
  /** All that are open. Some have been replaced, and still wait for answers. */
  readonly #open = new Set<UpstreamSocket>();
  /** The socket that replaces the next one. */
  #spare: UpstreamSocket | undefined;
  #spareTimer: NodeJS.Immediate | undefined;
  #isClosed = false;

  constructor(address: string, port: number) {
    this.#address = address;
    this.#port = port;
  }

  /** Returns a function that stops waiting for the answer. */
  ask(query: UpstreamQuery, answered: UpstreamAnswered): () => void {
    const index = Math.floor(Math.random() * MAX_SOCKETS);
    return this.#socketAt(index).ask({ query, answered });
  }

  close(): void {
    this.#isClosed = true;
    clearImmediate(this.#spareTimer);
    for (const socket of this.#open) socket.close();
  }

  #socketAt(index: number): UpstreamSocket {
    const socket = this.#sockets[index];
    if (socket !== undefined && !socket.isSpent) return socket;
    const spare = this.#spare;
    const fresh = spare === undefined || spare.isSpent ? this.#openSocket() : spare;
    this.#spare = undefined;
    this.#sockets[index] = fresh;
    if (!this.#isClosed) this.#openSpareSoon();
    return fresh;
  }

  /** After the query that took the spare socket was sent. */
  #openSpareSoon(): void {
    clearImmediate(this.#spareTimer);
    this.#spareTimer = setImmediate(() => (this.#spare = this.#openSocket()));
  }

  #openSocket(): UpstreamSocket {
    const socket = new UpstreamSocket(this.#address, this.#port, (closed) => this.#open.delete(closed));
    this.#open.add(socket);
    return socket;
  }
}
