/** Data that a client sent and nothing has consumed yet, and the reasons for which its socket is paused. */
import type { ClientSocket } from './client-socket.ts';

const MAX_DISCARDED_BYTES = 1_048_576;

export class ClientInput {
  readonly #socket: ClientSocket;
  readonly #maxHeldBytes: number;
  #held: Buffer | undefined;
  #pausedBy = 0;
  #discarded = 0;

  /** The socket is paused while more than `maxHeldBytes` are held. */
  constructor(socket: ClientSocket, maxHeldBytes: number) {
    this.#socket = socket;
    this.#maxHeldBytes = maxHeldBytes;
  }

  get holdsMore(): boolean {
    return this.#held !== undefined;
  }

  /** Reasons are bits. */
  pause(reason: number): void {
    if (this.#pausedBy === 0) this.#socket.pause();
    this.#pausedBy |= reason;
  }

  resume(reason: number): void {
    if ((this.#pausedBy & reason) === 0) return;
    this.#pausedBy &= ~reason;
    if (this.#pausedBy === 0) this.#socket.resume();
  }

  resumeAll(): void {
    this.resume(this.#pausedBy);
  }

  hold(bytes: Buffer): void {
    this.#held = this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes]);
    if (this.#held.length > this.#maxHeldBytes) this.pause(PAUSED_BY_HELD);
  }

  /** Returns the held bytes and clears them. */
  take(): Buffer | undefined {
    const held = this.#held;
    this.#held = undefined;
    this.resume(PAUSED_BY_HELD);
    return held;
  }

  drop(): void {
    this.#held = undefined;
  }

  /** Discards data after the last response. Returns false if it is too much. */
  discard(bytes: Buffer): boolean {
    this.#discarded += bytes.length;
    return this.#discarded <= MAX_DISCARDED_BYTES;
  }
}

/** Reasons for pausing the client's socket. */
export const PAUSED_BY_CIRCUIT = 1;
export const PAUSED_FOR_DIAL = 2;
const PAUSED_BY_HELD = 4;
export const PAUSED_FOR_DECISION = 8;
