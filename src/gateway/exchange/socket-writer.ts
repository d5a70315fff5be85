/**
 * The way to a client's socket: what one callback produces is written once, at its end, and of a long body what a whole
 * turn of the event loop produces: then a system call moves several TLS records. One callback serves all sockets.
 * Bounded by its users: they stop while `isFull`.
 */
import type { Socket } from 'node:net';
import { keptBytes } from '#base';
import { OutputBatch } from './output-batch.ts';

/** Within one turn, write early beyond this, so that back-pressure is seen in time. */
const EARLY_WRITE_BYTES = 65_536;

/** With so much from one callback, more of the same is likely to come in this turn. */
const LONG_BODY_BYTES = 8_192;

const waiting: SocketWriter[] = [];
const waitingForTurn: SocketWriter[] = [];

function flushAll(writers: SocketWriter[]): void {
  for (let i = 0; i < writers.length; i += 1) writers[i]!.flush();
  writers.length = 0;
}

export class SocketWriter {
  /** What waits to be written; call `written` after adding to it. */
  readonly batch = new OutputBatch();
  readonly #socket: Socket;
  readonly #maxUnsentBytes: number;
  #isWaiting = false;

  constructor(socket: Socket, maxUnsentBytes: number) {
    this.#socket = socket;
    this.#maxUnsentBytes = maxUnsentBytes;
  }

  /** The client takes too little: add nothing more until the socket drains. */
  get isFull(): boolean {
    const socket = this.#socket;
    return socket.writableLength > this.#maxUnsentBytes && socket.writableNeedDrain;
  }

  /** Something was added to the batch. */
  written(): void {
    if (this.batch.bytes > EARLY_WRITE_BYTES) {
      this.flush();
      return;
    }
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    if (this.batch.bytes > LONG_BODY_BYTES) {
      if (waitingForTurn.push(this) === 1) setImmediate(flushAll, waitingForTurn);
    } else if (waiting.push(this) === 1) {
      process.nextTick(flushAll, waiting);
    }
  }

  flush(): void {
    this.#isWaiting = false;
    if (this.batch.bytes === 0) return;
    const batched = this.batch.take();
    const socket = this.#socket;
    if (socket.destroyed || socket.writableEnded) return;
    // What waits for a slow client must not keep the reads that brought it.
    const buffers = socket.writableLength > 0 ? batched.map(keptBytes) : batched;
    if (buffers.length === 1) {
      socket.write(buffers[0]!);
      return;
    }
    socket.cork();
    for (let i = 0; i < buffers.length; i += 1) socket.write(buffers[i]!);
    socket.uncork();
  }

  /** Half-closes after everything that was added. */
  end(): void {
    this.flush();
    if (!this.#socket.destroyed && !this.#socket.writableEnded) this.#socket.end();
  }
}
