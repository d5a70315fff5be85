/**
 * Connects one circuit and one connection to the private service: bytes in both directions with back-pressure and
 * half-close. A break on either side breaks the other visibly, and an end stays an end. Data path: plain
 * callbacks, no streams.
 */
import { newNumber, setHandlers, type Numbered } from '#base';
import type { Circuit, CircuitError } from '#sdk';
import type { TargetConnection } from './backends/target-connection.ts';

/** After the circuit closed cleanly, the service may take the last bytes for this long without progress. */
const LINGER_MS = 30_000;
/**
 * What one read takes at most, in whole payloads. Without a small rest, which would shift all following payloads of a write
 * across two TLS records each: a router used a quarter more CPU for such a download.
 */
const READ_BYTES = 64 * 1024;

/** The side of the private service, or of a client on this machine. */
export interface LocalSide extends Pick<
  TargetConnection,
  'onData' | 'onEnd' | 'onDrain' | 'onClose' | 'write' | 'end' | 'resume' | 'abort' | 'closeWhenIdle'
> {
  /** Whether each view of `onData` and each `write` is one datagram. By default, they are parts of a stream. */
  readonly isDatagrams?: boolean;
  /** As in `TargetConnection`. */
  readonly lendsViews?: boolean;
  readBytes?: number;
  /** Set if the peer cannot end the connection: lets it end once nothing comes or goes. */
  drain?(): void;
}

export interface CopyHandlers {
  /** The first bytes of the service arrived, so it is alive. */
  readonly onAlive: () => void;
  /** Both sides are closed. `broken` has the reason unless they ended in order. */
  readonly onClosed: (copy: CircuitCopy, broken: string | undefined) => void;
}

export class CircuitCopy implements Numbered {
  readonly number = newNumber();
  readonly circuit: Circuit;
  /** Byte counts, for status and drain. */
  bytesToService = 0;
  bytesFromService = 0;
  /** Whether the last bytes came from the service, so that probably no response is outstanding. */
  serviceSpokeLast = false;
  readonly #connection: LocalSide;
  readonly #handlers: CopyHandlers;
  #circuitClosed = false;
  #connectionClosed = false;
  #callerEnded = false;
  #finished = false;
  #broken: string | undefined;

  /** `received` has the bytes that the circuit has delivered already. */
  constructor(
    circuit: Circuit,
    connection: LocalSide,
    handlers: CopyHandlers,
    received: readonly Uint8Array[] = [],
  ) {
    this.circuit = circuit;
    this.#connection = connection;
    this.#handlers = handlers;
    const isDatagrams = connection.isDatagrams === true;
    const { payloadBytes } = circuit;
    if (!isDatagrams && payloadBytes !== undefined)
      connection.readBytes = READ_BYTES - (READ_BYTES % payloadBytes);
    setHandlers(connection, {
      onData: isDatagrams ? (view) => this.#datagramFromService(view) : (view) => this.#fromService(view),
      onEnd: () => circuit.end(),
      onDrain: () => circuit.resume(),
      onClose: (error) => this.#onConnectionClosed(error),
    });
    setHandlers(circuit, {
      onData: (view) => {
        this.bytesToService += view.length;
        this.serviceSpokeLast = false;
        if (!connection.write(view)) circuit.pause();
      },
      onEnd: () => {
        this.#callerEnded = true;
        connection.end();
      },
      onDrain: () => connection.resume(),
      onClose: (error) => this.#onCircuitClosed(error),
    });
    for (const view of received) circuit.onData(view);
    circuit.resume();
  }

  /** Lets the copy end, because this program stops. A stream is ended by its peers alone. */
  drain(): void {
    this.#connection.drain?.();
  }

  /** Breaks both sides at once. */
  stop(reason: string): void {
    this.#broken ??= reason;
    this.circuit.destroy(reason);
    this.#connection.abort();
  }

  #fromService(view: Uint8Array): boolean {
    if (this.bytesFromService === 0) this.#handlers.onAlive();
    this.bytesFromService += view.length;
    this.serviceSpokeLast = true;
    return this.#connection.lendsViews === true ? this.circuit.writeLent(view) : this.circuit.write(view);
  }

  #datagramFromService(view: Uint8Array): boolean {
    this.bytesFromService += view.length;
    return this.circuit.writeMessage(view);
  }

  #onConnectionClosed(error: Error | undefined): void {
    if (this.#connectionClosed) return;
    this.#connectionClosed = true;
    if (!this.#circuitClosed && (error !== undefined || !this.#callerEnded)) {
      this.#broken ??= error?.message ?? 'the connection to the service closed';
      this.circuit.destroy(this.#broken);
    }
    this.#finish();
  }

  #onCircuitClosed(error: CircuitError | undefined): void {
    if (this.#circuitClosed) return;
    this.#circuitClosed = true;
    if (!this.#connectionClosed) {
      if (error !== undefined) {
        this.#broken ??= error.message;
        this.#connection.abort();
      } else {
        this.#connection.end();
        this.#connection.closeWhenIdle(LINGER_MS);
      }
    }
    this.#finish();
  }

  #finish(): void {
    if (this.#finished || !this.#circuitClosed || !this.#connectionClosed) return;
    this.#finished = true;
    this.#handlers.onClosed(this, this.#broken);
  }
}
