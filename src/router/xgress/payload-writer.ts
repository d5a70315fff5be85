/**
 * Writes the data of a local connection to a circuit as payloads. Bytes are cut into pieces that fit into a TLS record,
 * a datagram remains one message, and in an encrypted circuit each payload is one sealed message.
 */
import { EMPTY_BYTES } from '#base';
import { sealedPieceBytes, type CircuitEncryption } from '#sdk';
import { PAYLOAD_FLAGS, PayloadFrame, payloadHeadBytes, type Xgress } from '#wire/xgress';

/** A payload frame fits into one TLS record, so that the next router receives whole frames and need not join them. */
const TLS_RECORD_BYTES = 16_384;
/** However low the `mtu` is, a sealed payload has room for some data. */
const MIN_SEALED_BYTES = 64;

export interface PayloadWriterOptions {
  readonly xgress: Xgress;
  /** Maximum length of a payload; 0 for no limit but that of a TLS record. */
  readonly mtu: number;
  readonly encryption: CircuitEncryption | undefined;
  /** Each chunk is one datagram, which is not split. */
  readonly isDatagrams: boolean;
}

export class PayloadWriter {
  readonly #options: PayloadWriterOptions;
  readonly #maxBytes: number;

  constructor(options: PayloadWriterOptions) {
    this.#options = options;
    const { xgress, mtu, encryption } = options;
    const mostBytes = maxPayloadBytes(xgress.circuitId, mtu);
    this.#maxBytes = encryption === undefined ? mostBytes : Math.max(MIN_SEALED_BYTES, mostBytes);
  }

  /** Sends the header of the encrypted stream, which the far end needs before the first message. */
  start(nowMs: number): void {
    const { xgress, encryption } = this.#options;
    if (encryption !== undefined) xgress.write(encryption.header, nowMs);
  }

  /** Returns false if the window is full, as `Xgress.write` does. */
  write(chunk: Uint8Array, nowMs: number): boolean {
    const { xgress, encryption, isDatagrams, mtu } = this.#options;
    if (isDatagrams) {
      const message = encryption === undefined ? chunk : encryption.seal(chunk);
      return xgress.writeMessage(message, nowMs, undefined, mtu);
    }
    if (encryption !== undefined) return this.#writeSealed(encryption, chunk, nowMs);
    const most = this.#maxBytes;
    if (chunk.length <= most) return xgress.write(chunk, nowMs);
    let mayGoOn = true;
    for (let at = 0; at < chunk.length; at += most)
      mayGoOn = xgress.write(chunk.subarray(at, at + most), nowMs);
    return mayGoOn;
  }

  #writeSealed(encryption: CircuitEncryption, chunk: Uint8Array, nowMs: number): boolean {
    let mayGoOn = true;
    for (let at = 0; at < chunk.length;) {
      const bytes = sealedPieceBytes(chunk.length - at, this.#maxBytes);
      mayGoOn = this.#options.xgress.write(encryption.seal(chunk.subarray(at, at + bytes)), nowMs);
      at += bytes;
    }
    return mayGoOn;
  }
}

function maxPayloadBytes(circuitId: string, mtu: number): number {
  const head = payloadHeadBytes(new PayloadFrame(circuitId, 0, PAYLOAD_FLAGS.originator, EMPTY_BYTES));
  return mtu > 0 ? Math.min(mtu, TLS_RECORD_BYTES - head) : TLS_RECORD_BYTES - head;
}
