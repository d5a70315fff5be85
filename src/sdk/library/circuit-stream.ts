/**
 * A circuit as a Node stream: `end()` half-closes it, `write()` returns false while the window of the circuit is full,
 * and a reader that stops reading stops the far end. It has the methods of a socket that HTTP clients call.
 */
import { Duplex } from 'node:stream';
import { setHandlers } from '#base';
import type { Circuit } from '../circuit.ts';
import { sdkErrorOf } from './sdk-error.ts';

export interface CircuitStreamInfo {
  /** Name of the service. */
  readonly service: string;
  /** The name that the dialer sent: for logs only, it proves nothing. Empty for circuits that were dialed here. */
  readonly callerId: string;
}

type Callback = (error?: Error | null) => void;

export class CircuitStream extends Duplex {
  /** The overlay's id of the circuit, for logs. */
  readonly circuitId: string;
  readonly service: string;
  readonly callerId: string;
  readonly #circuit: Circuit;
  /** Called when the window has room again. */
  #onWritten: Callback | undefined;
  /** Called when the circuit is over, after both directions had ended. */
  #onOver: ((error: Error | null) => void) | undefined;
  #isOver = false;
  /** Whether `end` was called and everything was handed to the circuit. */
  #hasEnded = false;
  #hasFarEnded = false;
  #idleTimer: NodeJS.Timeout | undefined;

  /** @internal */
  constructor(circuit: Circuit, { service, callerId }: CircuitStreamInfo) {
    super({ allowHalfOpen: true });
    this.circuitId = circuit.id;
    this.service = service;
    this.callerId = callerId;
    this.#circuit = circuit;
    setHandlers(circuit, {
      onData: (view) => {
        this.#idleTimer?.refresh();
        const chunk = Buffer.from(view.buffer, view.byteOffset, view.byteLength);
        if (!this.push(chunk)) circuit.pause();
      },
      onEnd: () => {
        this.#hasFarEnded = true;
        this.push(null);
      },
      onDrain: () => this.#written(),
      onClose: (error) => this.#onClose(error),
    });
    circuit.resume();
  }

  override _read(): void {
    if (!this.#isOver) this.#circuit.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    // The circuit keeps the bytes until they are acknowledged, and the caller may change its buffer before that.
    this.#send(Buffer.from(chunk), callback);
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], callback: Callback): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)), callback);
  }

  override _final(callback: Callback): void {
    this.#hasEnded = true;
    this.#circuit.end();
    callback();
  }

  override _destroy(error: Error | null, callback: Callback): void {
    clearTimeout(this.#idleTimer);
    const hasEnded = this.writableFinished && this.readableEnded;
    if (this.#isOver) callback(error);
    // The far end may still have to acknowledge the last bytes.
    else if (error === null && hasEnded) this.#onOver = callback;
    else {
      this.#isOver = true;
      this.#circuit.destroy(error?.message);
      callback(error);
    }
  }

  /** Emits `timeout` after `timeoutMs` without data in either direction. 0, which is the default, switches it off. */
  setTimeout(timeoutMs: number, listener?: () => void): this {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = timeoutMs > 0 ? setTimeout(() => this.emit('timeout'), timeoutMs).unref() : undefined;
    if (listener !== undefined) {
      if (timeoutMs > 0) this.once('timeout', listener);
      else this.off('timeout', listener);
    }
    return this;
  }

  /** Without effect: a circuit sends each write at once. */
  setNoDelay(): this {
    return this;
  }

  /** Without effect: the channel below the circuit checks by itself whether the router responds. */
  setKeepAlive(): this {
    return this;
  }

  /** Without effect: the overlay keeps the process running until it is closed. */
  ref(): this {
    return this;
  }

  /** Without effect, like `ref`. */
  unref(): this {
    return this;
  }

  #send(bytes: Uint8Array, callback: Callback): void {
    this.#idleTimer?.refresh();
    if (this.#circuit.write(bytes)) callback();
    else this.#onWritten = callback;
  }

  #written(): void {
    const callback = this.#onWritten;
    this.#onWritten = undefined;
    this.#idleTimer?.refresh();
    callback?.();
  }

  #onClose(error: Error | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // After both directions have ended, routers may remove the circuit before the last acknowledgement is here.
    const isClean = error === undefined || (this.#hasEnded && this.#hasFarEnded);
    const failure = isClean ? null : sdkErrorOf(error);
    if (this.#onOver !== undefined) this.#onOver(failure);
    else if (failure !== null) this.destroy(failure);
  }
}
