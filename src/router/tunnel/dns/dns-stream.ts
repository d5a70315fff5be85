/** DNS messages on a TCP connection: each follows its length in two bytes (RFC 1035 §4.2.2). */

const LENGTH_BYTES = 2;

/** Splits chunks into messages. It holds at most one unfinished message, which is at most 64 KiB. */
export class DnsStreamDecoder {
  #held: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): void {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
  }

  /** Returns the next whole message, or undefined until more bytes are pushed. */
  next(): Buffer | undefined {
    const held = this.#held;
    if (held.length < LENGTH_BYTES) return undefined;
    const end = LENGTH_BYTES + held.readUInt16BE(0);
    if (held.length < end) return undefined;
    this.#held = held.subarray(end);
    return held.subarray(LENGTH_BYTES, end);
  }
}

export function encodeStreamMessage(message: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(LENGTH_BYTES + message.length);
  bytes.writeUInt16BE(message.length, 0);
  message.copy(bytes, LENGTH_BYTES);
  return bytes;
}
