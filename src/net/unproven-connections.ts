/**
 * Limits unauthenticated connections to a server, which cost memory (over TLS about 50 KiB) and can be opened by
 * anyone, in total and by address. At a limit, the oldest connection of the address with most of them is closed,
 * one without a request first, so that newcomers are served and other addresses keep their connections; each of
 * a suspect address counts as several. A
 * newcomer does not displace a connection of its own address that had no time for a handshake, so that some
 * succeed when all clients reconnect at once. A connection that is held does not count and is not closed.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addressKey, type Log } from '#base';
import { QuietLog } from './quiet-log.ts';

export interface UnprovenLimits {
  /** Limit in total; 256 by default. */
  readonly maxUnproven?: number | undefined;
  /** Limit per address; 192 by default. Behind a load balancer that hides addresses, all clients share one. */
  readonly maxUnprovenPerAddress?: number | undefined;
  /** Whether the address is that of a proxy, whose connections are not counted: it limits its clients itself. */
  readonly isProxy?: ((address: string) => boolean) | undefined;
  /** Whether the address (or the key of an IPv6 network) did wrong lately. */
  readonly isSuspect?: ((address: string) => boolean) | undefined;
}

/** A connection of a suspect is as heavy as so many of others. A browser has fewer. */
const SUSPECT_WEIGHT = 16;
/** Time for a handshake on a busy machine. */
const UNDISTURBED_MS = 1_000;

interface Connection {
  readonly key: string;
  readonly address: string;
  readonly socket: Socket;
  readonly openedMs: number;
  /** Requests without a response yet. */
  requests: number;
  /** How often it is held. */
  holds: number;
}

export class UnprovenConnections {
  readonly #maxUnproven: number;
  readonly #maxPerAddress: number;
  readonly #isProxy: (address: string) => boolean;
  readonly #isSuspect: (address: string) => boolean;
  readonly #log: QuietLog;
  /** By both ends of the connection, because over TLS a request has another socket object than the accepted one. */
  readonly #connections = new Map<string, Connection>();
  readonly #proven = new WeakSet<object>();
  readonly #held = new Map<string, Connection>();
  /** The oldest first. */
  readonly #byAddress = new Map<string, Set<Connection>>();

  constructor(limits: UnprovenLimits, log: Log) {
    this.#maxUnproven = limits.maxUnproven ?? 256;
    this.#maxPerAddress = limits.maxUnprovenPerAddress ?? 192;
    this.#isProxy = limits.isProxy ?? (() => false);
    this.#isSuspect = limits.isSuspect ?? (() => false);
    this.#log = new QuietLog(log);
  }

  get size(): number {
    return this.#connections.size;
  }

  /** Counts the server's connections from now on. */
  follow(server: Pick<Server, 'on'>): void {
    server.on('connection', (socket: Socket) => this.#enter(socket));
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (this.#proven.has(request.socket)) return;
      const key = keyOf(request.socket);
      const connection = this.#connections.get(key) ?? this.#held.get(key);
      if (connection === undefined) return;
      connection.requests += 1;
      response.once('close', () => (connection.requests -= 1));
    });
  }

  /** The peer is authenticated, so the connection no longer counts. */
  prove(socket: Pick<Socket, 'remoteAddress' | 'remotePort'>): void {
    if (this.#proven.has(socket)) return;
    this.#proven.add(socket);
    const connection = this.#connections.get(keyOf(socket));
    if (connection !== undefined) this.#remove(connection);
    this.#held.delete(keyOf(socket));
  }

  /**
   * Keeps the connection while its request waits for a turn in a queue, which bounds how many are held. Without it, the
   * connections that wait longest, and are next, would be the first that newcomers displace. Call the answer when the wait is
   * over.
   */
  hold(socket: Pick<Socket, 'remoteAddress' | 'remotePort'>): () => void {
    const key = keyOf(socket);
    const connection = this.#connections.get(key) ?? this.#held.get(key);
    if (connection === undefined) return () => {};
    connection.holds += 1;
    this.#remove(connection);
    this.#held.set(key, connection);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      connection.holds -= 1;
      if (connection.holds > 0 || this.#held.get(key) !== connection) return;
      this.#held.delete(key);
      const { address } = connection;
      if (this.#connections.size >= this.#maxUnproven) this.#makeRoom(address, this.#byAddress.get(address));
      this.#add(connection);
    };
  }

  #enter(socket: Socket): void {
    // The connection is closed already.
    if (socket.remoteAddress === undefined || this.#isProxy(socket.remoteAddress)) return;
    const address = addressKey(socket.remoteAddress);
    const own = this.#byAddress.get(address);
    if (!this.#makeRoom(address, own)) {
      this.#log.warn(
        { address },
        'too many connections without credentials; closing a new one of this address',
      );
      socket.destroy();
      return;
    }
    const openedMs = performance.now();
    const connection: Connection = { key: keyOf(socket), address, socket, openedMs, requests: 0, holds: 0 };
    this.#add(connection);
    socket.once('close', () => {
      this.#remove(connection);
      if (this.#held.get(connection.key) === connection) this.#held.delete(connection.key);
    });
  }

  #add(connection: Connection): void {
    const { key, address } = connection;
    this.#connections.set(key, connection);
    const all = this.#byAddress.get(address) ?? new Set();
    this.#byAddress.set(address, all.add(connection));
  }

  #remove(connection: Connection): void {
    if (this.#connections.get(connection.key) !== connection) return;
    this.#connections.delete(connection.key);
    const own = this.#byAddress.get(connection.address);
    own?.delete(connection);
    if (own?.size === 0) this.#byAddress.delete(connection.address);
  }

  /** Returns false if a new connection of the address displaces none. */
  #makeRoom(address: string, own: ReadonlySet<Connection> | undefined): boolean {
    if (own !== undefined && own.size >= this.#maxPerAddress) return this.#evict(own, UNDISTURBED_MS);
    if (this.#connections.size < this.#maxUnproven) return true;
    const { connections, weight } = this.#heaviest();
    const isSuspect = this.#isSuspect(address);
    const ownWeight = ((own?.size ?? 0) + 1) * (isSuspect ? SUSPECT_WEIGHT : 1);
    // Requests that are being answered are not broken off for an address that has more, nor for a suspect that has as many.
    const isHeaviest = isSuspect ? ownWeight >= weight : ownWeight > weight;
    if (isHeaviest && oldestIdle(connections) === undefined) return false;
    return this.#evict(connections, connections === own ? UNDISTURBED_MS : 0);
  }

  #heaviest(): { readonly connections: ReadonlySet<Connection>; readonly weight: number } {
    let connections: ReadonlySet<Connection> = new Set();
    let weight = 0;
    for (const [address, own] of this.#byAddress) {
      const ownWeight = own.size * (this.#isSuspect(address) ? SUSPECT_WEIGHT : 1);
      if (ownWeight > weight) [connections, weight] = [own, ownWeight];
    }
    return { connections, weight };
  }

  /** Returns false if none is old enough. */
  #evict(own: ReadonlySet<Connection>, leastAgeMs: number): boolean {
    const victim = oldestIdle(own) ?? own.values().next().value;
    if (victim === undefined || performance.now() - victim.openedMs < leastAgeMs) return false;
    const { address, socket } = victim;
    this.#log.warn(
      { address },
      'too many connections without credentials; closing the oldest of this address',
    );
    this.#remove(victim);
    socket.destroy();
    return true;
  }
}

function oldestIdle(connections: ReadonlySet<Connection>): Connection | undefined {
  for (const connection of connections) if (connection.requests === 0) return connection;
  return undefined;
}

function keyOf({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string {
  return `${remoteAddress} ${remotePort}`;
}
