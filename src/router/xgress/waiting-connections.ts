/** The connections of one listener that have no circuit yet. Their number is bounded. */
import type { Socket } from 'node:net';
import { formatHostPort, type Log } from '#base';

/** Maximum connections of one listener without a circuit. */
const MAX_WAITING = 4_096;

export class WaitingConnections {
  /** The key of the listener in the router file, for the log. */
  readonly #place: string;
  readonly #log: Log;
  readonly #waiting = new Set<Socket>();
  #isClosed = false;

  constructor(place: string, log: Log) {
    this.#place = place;
    this.#log = log;
  }

  /** Returns the client's address. Returns undefined if the connection was closed, because there are too many. */
  add(socket: Socket): string | undefined {
    const peer = formatHostPort(socket.remoteAddress ?? '', socket.remotePort ?? 0);
    socket.on('error', () => {});
    if (this.#isClosed || this.#waiting.size >= MAX_WAITING) {
      this.#log.warn(
        { listener: this.#place, peer },
        'too many connections wait for a circuit, connection closed',
      );
      socket.destroy();
      return undefined;
    }
    this.#waiting.add(socket);
    socket.once('close', () => this.#waiting.delete(socket));
    return peer;
  }

  /** The connection has a circuit, or is being closed. */
  remove(socket: Socket): void {
    this.#waiting.delete(socket);
  }

  /** Closes the waiting connections, and those that come later. */
  close(): void {
    this.#isClosed = true;
    for (const socket of this.#waiting) socket.destroy();
  }
}

/** Closes a connection so that its client notices a failure, because a clean end would look like an empty reply. */
export function resetConnection(socket: Socket): void {
  if ('encrypted' in socket) socket.destroy();
  else socket.resetAndDestroy();
}
