/**
 * Incremental frame decoder: bytes in, in any cuts; whole frames out. Lengths are held against the limits before
 * anything is allocated for them, and memory grows with the bytes that came, not with the lengths they claim.
 * Mutable on purpose: it runs once per socket read on the data path.
 */
import { checkHeaderBytes, FrameHeaders, readU32 } from './frame-headers.ts';
import { FRAME_HEAD_BYTES, FRAME_MAGIC, type Frame } from './frame-codec.ts';

export interface FrameLimits {
  readonly maxHeadersBytes: number;
  readonly maxBodyBytes: number;
}

/** Before and in the hello. */
export const HELLO_LIMITS: FrameLimits = { maxHeadersBytes: 16_384, maxBodyBytes: 4_192 };

export type DecodeFault = 'bad-magic' | 'headers-too-long' | 'body-too-long' | 'bad-headers';

export class FrameDecoder {
  limits: FrameLimits;
  #pending: Uint8Array | undefined;
  #pendingBytes = 0;
  #fault: DecodeFault | undefined;

  constructor(limits: FrameLimits) {
    this.limits = limits;
  }

  /** Bytes held for a frame that is not whole yet. */
  get bufferedBytes(): number {
    return this.#pendingBytes;
  }

  /**
   * Calls `onFrame` for each whole frame; bodies and headers are views of `chunk` where they lie in it. Returns a
   * fault when the peer broke the framing: nothing more is decoded then. `onFrame` may change `limits`; when it
   * returns false the rest stays buffered until `push` is called again (an empty chunk will do).
   */
  push(chunk: Uint8Array, onFrame: (frame: Frame) => boolean | void): DecodeFault | undefined {
    if (this.#fault !== undefined) return this.#fault;
    let bytes = chunk;
    if (this.#pendingBytes > 0) {
      bytes = this.#join(chunk);
      if (bytes.length === 0) return this.#fault;
    }
    let at = 0;
    while (bytes.length - at >= 4) {
      const frameBytes = this.#frameBytes(bytes, at);
      if (frameBytes === undefined) return this.#fault;
      if (frameBytes === 0 || bytes.length - at < frameBytes) break;
      const frame = this.#frame(bytes, at, frameBytes);
      if (frame === undefined) return this.#fault;
      at += frameBytes;
      if (onFrame(frame) === false) break;
    }
    this.#keep(bytes, at);
    return undefined;
  }

  /** Length of the frame at `at`; 0 when its head is not whole; undefined after a fault. */
  #frameBytes(bytes: Uint8Array, at: number): number | undefined {
    for (let i = 0; i < 4; i += 1) {
      if (bytes[at + i] !== FRAME_MAGIC[i]) return this.#fail('bad-magic');
    }
    if (bytes.length - at < FRAME_HEAD_BYTES) return 0;
    const headersBytes = readU32(bytes, at + 12);
    const bodyBytes = readU32(bytes, at + 16);
    if (headersBytes > this.limits.maxHeadersBytes) return this.#fail('headers-too-long');
    if (bodyBytes > this.limits.maxBodyBytes) return this.#fail('body-too-long');
    return FRAME_HEAD_BYTES + headersBytes + bodyBytes;
  }

  #frame(bytes: Uint8Array, at: number, frameBytes: number): Frame | undefined {
    const headersEnd = at + FRAME_HEAD_BYTES + readU32(bytes, at + 12);
    const raw = bytes.subarray(at + FRAME_HEAD_BYTES, headersEnd);
    if (!checkHeaderBytes(raw)) {
      this.#fail('bad-headers');
      return undefined;
    }
    return {
      contentType: readU32(bytes, at + 4) | 0,
      sequence: readU32(bytes, at + 8) | 0,
      headers: new FrameHeaders(raw),
      body: bytes.subarray(headersEnd, at + frameBytes),
    };
  }

  #fail(fault: DecodeFault): undefined {
    this.#fault = fault;
    this.#pending = undefined;
    this.#pendingBytes = 0;
    return undefined;
  }

  /** Appends the chunk to the unfinished frame. Empty when that frame is still not whole. */
  #join(chunk: Uint8Array): Uint8Array {
    const wanted = this.#pendingBytes + chunk.length;
    let pending = this.#pending!;
    if (pending.length < wanted) {
      const claimed = this.#pendingBytes >= FRAME_HEAD_BYTES ? (this.#frameBytes(pending, 0) ?? 0) : 0;
      const grown = new Uint8Array(Math.max(wanted, Math.min(claimed, 2 * wanted)));
      grown.set(pending.subarray(0, this.#pendingBytes));
      pending = this.#pending = grown;
    }
    pending.set(chunk, this.#pendingBytes);
    this.#pendingBytes = wanted;
    const whole = pending.subarray(0, wanted);
    if (wanted >= 4) {
      const frameBytes = this.#frameBytes(whole, 0);
      if (frameBytes === undefined || frameBytes === 0 || frameBytes > wanted) return whole.subarray(0, 0);
    } else {
      return whole.subarray(0, 0);
    }
    this.#pending = undefined;
    this.#pendingBytes = 0;
    return whole;
  }

  #keep(bytes: Uint8Array, at: number): void {
    const rest = bytes.length - at;
    if (rest === 0) return;
    // A copy: the chunk's memory is the socket's, and views of frames already given out must not be written over.
    this.#pending = bytes.slice(at);
    this.#pendingBytes = rest;
  }
}
