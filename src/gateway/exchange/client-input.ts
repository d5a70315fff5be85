/** What a client sent and nobody has taken yet, and who wants its socket not to be read just now. */
import type { Socket } from 'node:net';

const MAX_DISCARDED_BYTES = 1_048_576;

export class ClientInput {
  readonly #socket: Socket;
  readonly #maxHeldBytes: number;
  #held: Buffer | undefined;
  #pausedBy = 0;
  #discarded = 0;

  /** With more than `maxHeldBytes` held, the socket is not read. */
  constructor(socket: Socket, maxHeldBytes: number) {
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

  resumeWhatever(): void {
    this.resume(this.#pausedBy);
  }

  hold(bytes: Buffer): void {
    this.#held = this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes]);
    if (this.#held.length > this.#maxHeldBytes) this.pause(PAUSED_BY_HELD);
  }

  /** What was held; the caller has it now. */
  take(): Buffer | undefined {
    const held = this.#held;
    this.#held = undefined;
    this.resume(PAUSED_BY_HELD);
    return held;
  }

  drop(): void {
    this.#held = undefined;
  }

  /** After the last answer nobody wants more; false: that is enough of it. */
  discard(bytes: Buffer): boolean {
    this.#discarded += bytes.length;
    return this.#discarded <= MAX_DISCARDED_BYTES;
  }
}

/** Why the client's socket is not read. */
export const PAUSED_BY_CIRCUIT = 1;
export const PAUSED_FOR_DIAL = 2;
const PAUSED_BY_HELD = 4;
export const PAUSED_FOR_DECISION = 8;
