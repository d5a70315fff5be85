/**
 * A connection of datagrams as the local connection of a circuit: each chunk that is read or written is one datagram.
 * What carries the datagrams is the owner's: a socket of many flows, or a socket of one. It has no half-close: when
 * either direction ends, both do. Datagrams that come faster than the circuit takes them are dropped.
 */
import { Duplex } from 'node:stream';
import type { Clock } from '#base';
import type { DatagramBudget } from './datagram-budget.ts';

/** Maximum datagrams that wait for the circuit. */
const MAX_WAITING_DATAGRAMS = 16;

export interface DatagramAddresses {
  readonly localAddress: string;
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
}

export interface DatagramConnectionOptions {
  readonly addresses: DatagramAddresses;
  /** Bounds the bytes that wait in all connections of the owner. */
  readonly budget: DatagramBudget;
  readonly clock: Clock;
  /** Sends one datagram to the peer, and calls `sent` when the next one may follow; with an error to end the connection. */
  send(datagram: Uint8Array, sent: (error?: Error | null) => void): void;
  /** Called once, when the connection accepts no more datagrams of its peer. It can still send. */
  onEnded?(connection: DatagramConnection): void;
  /** Called once, when the connection no longer sends either. */
  onClosed?(connection: DatagramConnection): void;
}

export class DatagramConnection extends Duplex {
  readonly localAddress: string;
  readonly localPort: number;
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly #options: DatagramConnectionOptions;
  readonly #clock: Clock;
  readonly #waiting: Uint8Array[] = [];
  #lastActiveMs: number;
  /** True if the reader has asked for a datagram and got none. */
  #isWanted = false;
  #hasEnded = false;

  constructor(options: DatagramConnectionOptions) {
    // In object mode, chunks are never joined or split.
    super({ readableObjectMode: true, readableHighWaterMark: 1, decodeStrings: false });
    const { localAddress, localPort, remoteAddress, remotePort } = options.addresses;
    this.localAddress = localAddress;
    this.localPort = localPort;
    this.remoteAddress = remoteAddress;
    this.remotePort = remotePort;
    this.#options = options;
    this.#clock = options.clock;
    this.#lastActiveMs = options.clock.monotonicMs();
    // The circuit's end handles errors; before there is one, the owner sees that the connection closed.
    this.on('error', () => {});
  }

  /** Time of the last datagram in either direction, in Unix milliseconds. */
  get lastActiveMs(): number {
    return this.#lastActiveMs;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Takes a datagram of the peer. Returns false if it was dropped: too many wait, or the connection has ended. */
  receive(datagram: Uint8Array): boolean {
    if (this.#hasEnded || this.destroyed) return false;
    this.#lastActiveMs = this.#clock.monotonicMs();
    if (this.#isWanted) {
      this.#isWanted = this.push(datagram);
      return true;
    }
    if (this.#waiting.length >= MAX_WAITING_DATAGRAMS || !this.#options.budget.take(datagram.length))
      return false;
    this.#waiting.push(datagram);
    return true;
  }

  /** Ends the connection if no datagram came or went for `idleMs`. Returns whether it has ended. */
  endIfIdle(idleMs: number): boolean {
    if (!this.#hasEnded && this.#clock.monotonicMs() - this.#lastActiveMs >= idleMs) this.finish();
    return this.#hasEnded;
  }

  /** Ends the direction from the peer. The circuit ends when its far end has ended, too. */
  finish(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#dropWaiting();
    this.push(null);
    this.#options.onEnded?.(this);
  }

  override _read(): void {
    this.#isWanted = true;
    while (this.#isWanted && this.#waiting.length > 0) {
      const datagram = this.#waiting.shift()!;
      this.#options.budget.release(datagram.length);
      this.#isWanted = this.push(datagram);
    }
  }

  override _write(datagram: Uint8Array, _encoding: string, done: (error?: Error | null) => void): void {
    this.#lastActiveMs = this.#clock.monotonicMs();
    this.#options.send(datagram, done);
  }

  override _final(done: () => void): void {
    this.finish();
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.#hasEnded) {
      this.#hasEnded = true;
      this.#dropWaiting();
      this.#options.onEnded?.(this);
    }
    this.#options.onClosed?.(this);
    done(error);
  }

  #dropWaiting(): void {
    for (const { length } of this.#waiting.splice(0)) this.#options.budget.release(length);
  }
}
