/** The few bytes that a client and a proxy exchange before the connection is the server's. */
import type { Socket } from 'node:net';

/** Why a proxy does not connect: a part of a sentence about it, without secrets. */
export class ProxyRefusal extends Error {}

interface Waiting {
  readonly lengthOf: (bytes: Buffer) => number | undefined;
  readonly resolve: (bytes: Buffer) => void;
  readonly reject: (error: Error) => void;
}

export class ProxyExchange {
  readonly #socket: Socket;
  readonly #signal: AbortSignal;
  #received: Buffer = Buffer.alloc(0);
  #waiting: Waiting | undefined;

  constructor(socket: Socket, signal: AbortSignal) {
    this.#socket = socket;
    this.#signal = signal;
  }

  write(bytes: Uint8Array | string): void {
    this.#socket.write(bytes);
  }

  /**
   * Resolves with the first bytes that came, as many as `lengthOf` says once it can. Rejects with a `ProxyRefusal` if the
   * proxy closes the connection or sends more than `maxBytes` before, or with the reason of the signal.
   */
  async read(maxBytes: number, lengthOf: (bytes: Buffer) => number | undefined): Promise<Buffer> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const onClose = (): void => reject(new ProxyRefusal('it closed the connection before it answered'));
    const onError = (error: Error): void => reject(error);
    const onAbort = (): void => reject(this.#signal.reason as Error);
    const onData = (chunk: Buffer): void => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#settle(maxBytes);
    };
    this.#waiting = { lengthOf, resolve, reject };
    this.#socket.on('close', onClose).on('error', onError).on('data', onData);
    this.#signal.addEventListener('abort', onAbort, { once: true });
    try {
      if (this.#signal.aborted) onAbort();
      if (this.#socket.destroyed) onClose();
      this.#settle(maxBytes);
      if (this.#waiting !== undefined) this.#socket.resume();
      return await promise;
    } finally {
      this.#socket.off('close', onClose).off('error', onError).off('data', onData);
      this.#signal.removeEventListener('abort', onAbort);
    }
  }

  /** The connection is the server's from now on; what came from it already is read again. */
  release(): void {
    if (this.#received.length > 0) this.#socket.unshift(this.#received);
  }

  #settle(maxBytes: number): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    const length = waiting.lengthOf(this.#received);
    if (length === undefined || length > this.#received.length) {
      if (this.#received.length > maxBytes) waiting.reject(new ProxyRefusal('its answer is too long'));
      return;
    }
    this.#waiting = undefined;
    // What follows belongs to the next read, or to the server.
    this.#socket.pause();
    waiting.resolve(this.#received.subarray(0, length));
    this.#received = this.#received.subarray(length);
  }
}
