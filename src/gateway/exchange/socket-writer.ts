/**
 * Writes to a client's socket. The output of one callback is written once, at its end; for long bodies, the
 * output of a whole turn of the event loop is, so that one system call covers several TLS records. One callback
 * serves all sockets. Callers bound it by stopping while `isFull`.
 */
import type { Socket } from 'node:net';
import { keptBytes } from '#base';
import { OutputBatch } from './output-batch.ts';

/** Within one turn, more than this is written early, so that back-pressure shows in time. */
const EARLY_WRITE_BYTES = 65_536;

/** After this much from one callback, more is likely to follow in the same turn. */
const LONG_BODY_BYTES = 8_192;

/** The writers that one callback flushes. */
class WaitingWriters {
  readonly #schedule: (flush: () => void) => void;
  #writers: SocketWriter[] = [];

  constructor(schedule: (flush: () => void) => void) {
    this.#schedule = schedule;
  }

  add(writer: SocketWriter): void {
    if (this.#writers.push(writer) === 1) this.#schedule(this.#flush);
  }

  readonly #flush = (): void => {
    const writers = this.#writers;
    // The array is replaced: setting its length to 0 is a call into V8's C++ code.
    this.#writers = [];
    for (let i = 0; i < writers.length; i += 1) writers[i]!.flush();
  };
}

// A microtask costs a third of `process.nextTick`.
const endOfCallback = new WaitingWriters(queueMicrotask);
const endOfTurn = new WaitingWriters(setImmediate);

export class SocketWriter {
  /** The pending output. Call `written` after adding to it. */
  readonly batch = new OutputBatch();
  readonly #socket: Socket;
  readonly #maxUnsentBytes: number;
  #isWaiting = false;

  constructor(socket: Socket, maxUnsentBytes: number) {
    this.#socket = socket;
    this.#maxUnsentBytes = maxUnsentBytes;
  }

  /** Whether the client reads too slowly. Nothing more may be added until the socket drains. */
  get isFull(): boolean {
    const socket = this.#socket;
    return socket.writableLength > this.#maxUnsentBytes && socket.writableNeedDrain;
  }

  /** Must be called after adding to the batch. */
  written(): void {
    if (this.batch.bytes > EARLY_WRITE_BYTES) {
      this.flush();
      return;
    }
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    if (this.batch.bytes > LONG_BODY_BYTES) endOfTurn.add(this);
    else endOfCallback.add(this);
  }

  flush(): void {
    this.#isWaiting = false;
    if (this.batch.bytes === 0) return;
    const batched = this.batch.take();
    const socket = this.#socket;
    if (socket.destroyed || socket.writableEnded) return;
    // Data that waits for a slow client must not retain the large read buffers it came in.
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
