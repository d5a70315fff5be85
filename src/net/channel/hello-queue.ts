/**
 * Limits connections whose hello is pending: how many in total, how many per address, and how many wait for a
 * place. A correct peer sends its hello at the end of the handshake. If no place is free, or a connection has
 * waited for a second, the oldest pending connection is closed, so that silent peers do not block others.
 */
import type { TLSSocket } from 'node:tls';

export interface HelloQueueOptions {
  readonly maxQueued: number;
  readonly maxOutstanding: number;
  /** Beyond this number, an address loses its own oldest connection. */
  readonly maxPerAddress: number;
  /** Deadline for the hello. */
  readonly timeoutMs: number;
  /** Called when it is the connection's turn: the callee reads its hello, then calls `done`. */
  begin(socket: TLSSocket): void;
  giveUp(socket: TLSSocket, reason: string): void;
}

const PATIENCE_MS = 1_000;

export class HelloQueue {
  readonly #options: HelloQueueOptions;
  /** In the order in which they began. */
  readonly #outstanding = new Map<TLSSocket, NodeJS.Timeout>();
  readonly #queued = new Map<TLSSocket, NodeJS.Timeout>();

  constructor(options: HelloQueueOptions) {
    this.#options = options;
  }

  add(socket: TLSSocket): void {
    const { maxQueued, maxOutstanding, maxPerAddress } = this.#options;
    const same = [...this.#outstanding.keys()].filter(
      ({ remoteAddress }) => remoteAddress === socket.remoteAddress,
    );
    if (same.length >= maxPerAddress)
      this.#giveUp(same[0]!, 'too many connections of one address without a hello');
    if (this.#outstanding.size >= maxOutstanding && this.#queued.size >= maxQueued) this.#giveUpOldest();
    if (this.#outstanding.size < maxOutstanding) this.#begin(socket);
    else
      this.#queued.set(
        socket,
        setTimeout(() => this.#giveUpOldest(), PATIENCE_MS),
      );
  }

  /** The hello arrived, or the connection closed. */
  done(socket: TLSSocket): void {
    for (const list of [this.#outstanding, this.#queued]) {
      clearTimeout(list.get(socket));
      list.delete(socket);
    }
    const [next] = this.#queued.keys();
    if (next === undefined || this.#outstanding.size >= this.#options.maxOutstanding) return;
    clearTimeout(this.#queued.get(next));
    this.#queued.delete(next);
    this.#begin(next);
  }

  close(): void {
    for (const socket of [...this.#outstanding.keys(), ...this.#queued.keys()]) socket.destroy();
    for (const timer of [...this.#outstanding.values(), ...this.#queued.values()]) clearTimeout(timer);
    this.#outstanding.clear();
    this.#queued.clear();
  }

  #begin(socket: TLSSocket): void {
    const { timeoutMs, begin } = this.#options;
    this.#outstanding.set(
      socket,
      setTimeout(() => this.#giveUp(socket, 'no hello in time'), timeoutMs),
    );
    begin(socket);
  }

  #giveUpOldest(): void {
    const [oldest] = this.#outstanding.keys();
    if (oldest !== undefined) this.#giveUp(oldest, 'too many connections without a hello: the oldest');
  }

  #giveUp(socket: TLSSocket, reason: string): void {
    this.#options.giveUp(socket, reason);
    this.done(socket);
  }
}
