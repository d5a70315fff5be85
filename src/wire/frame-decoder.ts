/**
 * Incremental frame decoder: bytes in, in any cuts; whole frames out. Lengths are held against the limits before
 * anything is allocated for them, and memory grows with the bytes that came, not with the lengths they claim.
 * Mutable on purpose: it runs once per socket read on the data path.
 */
import { checkHeaderBytes, FrameHeaders, readU32 } from './frame-headers.ts';
import { FRAME_HEAD_BYTES, FRAME_MAGIC, type Frame } from './frame-codec.ts';
import {
  ACKNOWLEDGEMENT_TYPE,
  acknowledgementOf,
  PAYLOAD_TYPE,
  payloadOf,
  type DataFrame,
} from './payload-codec.ts';

export interface FrameLimits {
  readonly maxHeadersBytes: number;
  readonly maxBodyBytes: number;
}

/** Before and in the hello. */
export const HELLO_LIMITS: FrameLimits = { maxHeadersBytes: 16_384, maxBodyBytes: 4_192 };

export type DecodeFault = 'bad-magic' | 'headers-too-long' | 'body-too-long' | 'bad-headers';

/** Payloads and acknowledgements, read without a `Frame` in between; undefined: one that is malformed. */
export type DataFrameHandler = (frame: DataFrame | undefined) => void;

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
   * returns false the rest stays buffered until `push` is called again (an empty chunk will do). With `onData`, data
   * frames go there.
   */
  push(
    chunk: Uint8Array,
    onFrame: (frame: Frame) => boolean | void,
    onData?: DataFrameHandler,
  ): DecodeFault | undefined {
    if (this.#fault !== undefined) return this.#fault;
    let bytes = chunk;
    if (this.#pendingBytes > 0) {
      bytes = this.#join(chunk);
      if (bytes.length === 0) return this.#fault;
    }
    let at = 0;
    while (bytes.length - at >= 4) {
      const frameBytes = this.#frameBytes(bytes, at);
      if (frameBytes < 0) return this.#fault;
      if (frameBytes === 0 || bytes.length - at < frameBytes) break;
      const start = at;
      const headersEnd = start + FRAME_HEAD_BYTES + readU32(bytes, start + 12);
      if (!checkHeaderBytes(bytes, start + FRAME_HEAD_BYTES, headersEnd)) return this.#fail('bad-headers');
      at += frameBytes;
      if (onData !== undefined) {
        const contentType = readU32(bytes, start + 4);
        if (contentType === PAYLOAD_TYPE) {
          onData(payloadOf(bytes, start + FRAME_HEAD_BYTES, headersEnd, bytes.subarray(headersEnd, at)));
          continue;
        }
        if (contentType === ACKNOWLEDGEMENT_TYPE) {
          onData(acknowledgementOf(bytes, start + FRAME_HEAD_BYTES, headersEnd, bytes, headersEnd, at));
          continue;
        }
      }
      if (onFrame(frameOf(bytes, start, headersEnd, at)) === false) break;
    }
    this.#keep(bytes, at);
    return undefined;
  }

  /** Length of the frame at `at`; 0 when its head is not whole; −1 after a fault. */
  #frameBytes(bytes: Uint8Array, at: number): number {
    for (let i = 0; i < 4; i += 1) {
      if (bytes[at + i] !== FRAME_MAGIC[i]) return this.#failed('bad-magic');
    }
    if (bytes.length - at < FRAME_HEAD_BYTES) return 0;
    const headersBytes = readU32(bytes, at + 12);
    const bodyBytes = readU32(bytes, at + 16);
    if (headersBytes > this.limits.maxHeadersBytes) return this.#failed('headers-too-long');
    if (bodyBytes > this.limits.maxBodyBytes) return this.#failed('body-too-long');
    return FRAME_HEAD_BYTES + headersBytes + bodyBytes;
  }

  #failed(fault: DecodeFault): -1 {
    this.#fail(fault);
    return -1;
  }

  #fail(fault: DecodeFault): DecodeFault {
    this.#fault = fault;
    this.#pending = undefined;
    this.#pendingBytes = 0;
    return fault;
  }

  /** Appends the chunk to the unfinished frame. Empty when that frame is still not whole. */
  #join(chunk: Uint8Array): Uint8Array {
    const wanted = this.#pendingBytes + chunk.length;
    let pending = this.#pending!;
    if (pending.length < wanted) {
      const claimed = this.#pendingBytes >= FRAME_HEAD_BYTES ? Math.max(0, this.#frameBytes(pending, 0)) : 0;
      const grown = new Uint8Array(Math.max(wanted, Math.min(claimed, 2 * wanted)));
      grown.set(pending.subarray(0, this.#pendingBytes));
      pending = this.#pending = grown;
    }
    pending.set(chunk, this.#pendingBytes);
    this.#pendingBytes = wanted;
    const whole = pending.subarray(0, wanted);
    if (wanted >= 4) {
      const frameBytes = this.#frameBytes(whole, 0);
      if (frameBytes <= 0 || frameBytes > wanted) return whole.subarray(0, 0);
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

function frameOf(bytes: Uint8Array, at: number, headersEnd: number, end: number): Frame {
  return {
    contentType: readU32(bytes, at + 4) | 0,
    sequence: readU32(bytes, at + 8) | 0,
    headers: new FrameHeaders(bytes.subarray(at + FRAME_HEAD_BYTES, headersEnd)),
    body: bytes.subarray(headersEnd, end),
  };
}
