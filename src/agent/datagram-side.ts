/**
 * A connection of datagrams as the local side of a circuit: each message of the circuit is one datagram. It has no
 * half-close, so that the end of either side ends the other.
 */
import type { DatagramConnection } from '#net/datagrams';
import type { LocalSide } from './circuit-copy.ts';

/** By default, as at OpenZiti's hosts, a connection without a datagram in either direction for this time ends. */
export const DATAGRAM_IDLE_MS = 5 * 60_000;
/** After an idle connection has ended, its far end has this long to end too. */
const END_WAIT_MS = 30_000;
/** When the tunnel stops, a connection without a datagram for this time has no exchange under way. */
const DRAIN_IDLE_MS = 2_000;
const DRAIN_CHECK_MS = 250;

export class DatagramSide implements LocalSide {
  readonly isDatagrams = true;
  onData: LocalSide['onData'] = () => true;
  onEnd: LocalSide['onEnd'] = () => {};
  onDrain: LocalSide['onDrain'] = () => {};
  onClose: LocalSide['onClose'] = () => {};
  readonly #connection: DatagramConnection;
  #timer: NodeJS.Timeout | undefined;
  #drainTimer: NodeJS.Timeout | undefined;

  /** Reads nothing before `resume`. */
  constructor(connection: DatagramConnection) {
    this.#connection = connection;
    let failure: Error | undefined;
    connection.pause();
    connection.on('data', (datagram: Uint8Array) => {
      if (!this.onData(datagram)) connection.pause();
    });
    connection.on('end', () => {
      this.closeWhenIdle(END_WAIT_MS);
      this.onEnd();
    });
    connection.on('drain', () => this.onDrain());
    connection.on('error', (error: Error) => (failure = error));
    connection.on('close', () => {
      clearTimeout(this.#timer);
      clearInterval(this.#drainTimer);
      this.onClose(failure);
    });
  }

  write(datagram: Uint8Array): boolean {
    return this.#connection.write(datagram);
  }

  end(): void {
    this.#connection.end();
  }

  resume(): void {
    this.#connection.resume();
  }

  abort(): void {
    this.#connection.destroy();
  }

  drain(): void {
    this.#drainTimer ??= setInterval(() => this.#connection.endIfIdle(DRAIN_IDLE_MS), DRAIN_CHECK_MS);
  }

  closeWhenIdle(timeoutMs: number): void {
    // Datagrams of the peer no longer have a reader, and the end must not wait for one.
    this.#connection.resume();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#connection.destroy(), timeoutMs);
  }
}
