/**
 * Bounds the connections that owe their hello: so many at once, so many of one address, so many waiting for one of these
 * to be done. A peer that means well sends it with the end of the handshake; so where nothing is free, or a connection
 * has waited for a second, the one that has owed its hello for longest gives way, and silent peers keep nobody out.
 */
import type { TLSSocket } from 'node:tls';

export interface HelloQueueOptions {
  readonly maxQueued: number;
  readonly maxOutstanding: number;
  /** Beyond this many of one address its own oldest gives way. */
  readonly maxPerAddress: number;
  /** To owe the hello at most. */
  readonly timeoutMs: number;
  /** The connection's turn: read its hello, then call `done`. */
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
    if (same.length >= maxPerAddress) this.#giveUp(same[0]!, 'too many of one address owe their hello');
    if (this.#outstanding.size >= maxOutstanding && this.#queued.size >= maxQueued) this.#giveUpOldest();
    if (this.#outstanding.size < maxOutstanding) this.#begin(socket);
    else
      this.#queued.set(
        socket,
        setTimeout(() => this.#giveUpOldest(), PATIENCE_MS),
      );
  }

  /** Its hello came, or it went. */
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
    if (oldest !== undefined) this.#giveUp(oldest, 'too many owe their hello: the oldest');
  }

  #giveUp(socket: TLSSocket, reason: string): void {
    this.#options.giveUp(socket, reason);
    this.done(socket);
  }
}
