/**
 * The two ends of a connection inside the agent: one is the socket of an HTTP server, the other the local side of the
 * copy of a circuit. The only buffers are those of the stream, and a full one stops its writer.
 */
import { Duplex } from 'node:stream';
import type { LocalSide } from '../../circuit-copy.ts';

type Callback = (error?: Error | null) => void;

export interface SocketPair {
  readonly socket: Duplex;
  readonly side: LocalSide;
}

export function socketPair(): SocketPair {
  const side = new ServedSide();
  const socket = new ServerSocket(side);
  side.socket = socket;
  return { socket, side };
}

class ServedSide implements LocalSide {
  /** A server may use the memory of a write again. */
  readonly lendsViews = true;
  onData: LocalSide['onData'] = () => true;
  onEnd: LocalSide['onEnd'] = () => {};
  onDrain: LocalSide['onDrain'] = () => {};
  onClose: LocalSide['onClose'] = () => {};
  socket!: ServerSocket;

  write(view: Uint8Array): boolean {
    return this.socket.receive(view);
  }

  end(): void {
    this.socket.receiveEnd();
  }

  resume(): void {
    this.socket.written();
  }

  abort(): void {
    this.socket.destroy();
  }

  closeWhenIdle(timeoutMs: number): void {
    // A write that waits for the circuit would wait forever.
    this.socket.written();
    this.socket.setTimeout(timeoutMs, () => void this.socket.destroy());
  }
}

class ServerSocket extends Duplex {
  readonly #side: ServedSide;
  /** Called when the circuit takes more. */
  #onWritten: Callback | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #hasEnded = false;

  constructor(side: ServedSide) {
    super({ allowHalfOpen: true });
    this.#side = side;
  }

  receive(view: Uint8Array): boolean {
    if (this.destroyed || this.#hasEnded) return true;
    this.#idleTimer?.refresh();
    return this.push(Buffer.from(view.buffer, view.byteOffset, view.byteLength));
  }

  receiveEnd(): void {
    this.#hasEnded = true;
    this.push(null);
  }

  written(): void {
    const callback = this.#onWritten;
    this.#onWritten = undefined;
    this.#idleTimer?.refresh();
    callback?.();
  }

  override _read(): void {
    this.#side.onDrain();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    this.#idleTimer?.refresh();
    if (this.#side.onData(chunk)) callback();
    else this.#onWritten = callback;
  }

  override _final(callback: Callback): void {
    this.#side.onEnd();
    callback();
  }

  override _destroy(error: Error | null, callback: Callback): void {
    clearTimeout(this.#idleTimer);
    const written = this.#onWritten;
    this.#onWritten = undefined;
    written?.(error);
    callback(error);
    this.#side.onClose(error ?? undefined);
  }

  /** Emits `timeout` after `timeoutMs` without data in either direction. 0, which is the default, switches it off. */
  setTimeout(timeoutMs: number, listener?: () => void): this {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = timeoutMs > 0 ? setTimeout(() => this.emit('timeout'), timeoutMs) : undefined;
    if (listener !== undefined) this.once('timeout', listener);
    return this;
  }
}
