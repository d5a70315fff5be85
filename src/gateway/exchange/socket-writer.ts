/**
 * Writes to a client's socket. The output of one callback is written once, at its end; for long bodies, the
 * output of a whole turn of the event loop is, so that one system call covers several TLS records. One callback
 * serves all sockets. Callers bound it by stopping while `isFull`.
 */
import { keptBytes } from '#base';
import type { ClientSocket } from './client-socket.ts';
import { OutputBatch } from './output-batch.ts';

/** Within one turn, more than this is written early, so that back-pressure shows in time. */
const EARLY_WRITE_BYTES = 65_536;

/** After this much from one callback, more is likely to follow in the same turn. */
const LONG_BODY_BYTES = 8_192;

/** The writers that wait for the end of the callback, and for the end of the turn. */
const waiting: { forCallback: SocketWriter[]; forTurn: SocketWriter[] } = { forCallback: [], forTurn: [] };

function flushAll(writers: readonly SocketWriter[]): void {
  for (let i = 0; i < writers.length; i += 1) writers[i]!.flush();
}

// The arrays are replaced: setting their length to 0 is a call into V8's C++ code.
const flushCallback = (): void => {
  const writers = waiting.forCallback;
  waiting.forCallback = [];
  flushAll(writers);
};

const flushTurn = (): void => {
  const writers = waiting.forTurn;
  waiting.forTurn = [];
  flushAll(writers);
};

export class SocketWriter {
  /** The pending output. Call `written` after adding to it. */
  readonly batch = new OutputBatch();
  readonly #socket: ClientSocket;
  readonly #maxUnsentBytes: number;
  #isWaiting = false;

  constructor(socket: ClientSocket, maxUnsentBytes: number) {
    this.#socket = socket;
    this.#maxUnsentBytes = maxUnsentBytes;
  }

  /** Whether the client reads too slowly. Nothing more may be added until the socket drains. */
  get isFull(): boolean {
    const socket = this.#socket;
    return socket.writableLength > this.#maxUnsentBytes && socket.writableNeedDrain;
  }

  /**
   * Resets the connection, so that a response that ends with its connection does not look complete. Returns false for TLS and
   * during a shutdown, in which the platform refuses a reset and would leave the socket open.
   */
  reset(): boolean {
    if ('encrypted' in this.#socket || this.#socket.writableEnded) return false;
    this.#socket.resetAndDestroy();
    return true;
  }

  send(text: string): void {
    this.batch.text(text);
    this.written();
  }

  /** Must be called after adding to the batch. */
  written(): void {
    if (this.batch.bytes > EARLY_WRITE_BYTES) {
      this.flush();
      return;
    }
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    if (this.batch.bytes > LONG_BODY_BYTES) {
      if (waiting.forTurn.push(this) === 1) setImmediate(flushTurn);
    } else if (waiting.forCallback.push(this) === 1) {
      // A third of the price of `process.nextTick`.
      queueMicrotask(flushCallback);
    }
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
