/**
 * A circuit as the socket of an HTTP/2 session. The only buffers are those of the stream and the circuit, and a full one stops its
 * writer.
 */
import { Duplex } from 'node:stream';
import type { Upstream } from '../circuits/upstream.ts';

type Callback = (error?: Error | null) => void;

/** Pieces up to this size together are written as one. */
const JOINED_BYTES = 16_384;

export class CircuitDuplex extends Duplex {
  readonly #upstream: Upstream;
  /** Called when the circuit takes more. */
  #onWritten: Callback | undefined;

  constructor(upstream: Upstream) {
    super({ allowHalfOpen: false });
    this.#upstream = upstream;
  }

  receive(bytes: Buffer): void {
    if (!this.destroyed && !this.push(bytes)) this.#upstream.pause();
  }

  receiveEnd(): void {
    if (!this.destroyed) this.push(null);
  }

  drained(): void {
    const callback = this.#onWritten;
    this.#onWritten = undefined;
    callback?.();
  }

  override _read(): void {
    this.#upstream.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Callback): void {
    if (this.#upstream.circuit.write(chunk)) callback();
    else this.#onWritten = callback;
  }

  override _writev(chunks: { chunk: Buffer }[], callback: Callback): void {
    let bytes = 0;
    for (const { chunk } of chunks) bytes += chunk.length;
    const { circuit } = this.#upstream;
    let isReady = true;
    if (bytes <= JOINED_BYTES)
      isReady = circuit.write(
        Buffer.concat(
          chunks.map(({ chunk }) => chunk),
          bytes,
        ),
      );
    else for (const { chunk } of chunks) isReady = circuit.write(chunk) && isReady;
    if (isReady) callback();
    else this.#onWritten = callback;
  }

  override _final(callback: Callback): void {
    this.#upstream.circuit.end();
    callback();
  }

  override _destroy(error: Error | null, callback: Callback): void {
    const written = this.#onWritten;
    this.#onWritten = undefined;
    written?.(error);
    callback(error);
  }
}
