/**
 * Incremental frame decoder: bytes in any pieces in, whole frames out. Lengths are checked against the limits
 * before memory is allocated, and memory grows with the received bytes, not with claimed lengths. Mutable on
 * purpose, because it runs once per socket read on the data path.
 */
import { concatBytes, copyOf } from '#base';
import { checkHeaderBytes, FrameHeaders, readU32 } from './frame-headers.ts';
import { FRAME_HEAD_BYTES, FRAME_MAGIC, type Frame } from './frame-codec.ts';
import {
  ACKNOWLEDGEMENT_TYPE,
  acknowledgementOf,
  PAYLOAD_TYPE,
  payloadOf,
  type DataFrame,
} from './xgress/payload-codec.ts';

export interface FrameLimits {
  readonly maxHeadersBytes: number;
  /** Limit for a frame whose content type is one of `largeTypes`, or for any frame if these are absent. */
  readonly maxBodyBytes: number;
  readonly largeTypes?: ReadonlySet<number>;
  /** Limit for a frame of any other content type, if there are `largeTypes`. */
  readonly maxOtherBodyBytes?: number;
  /**
   * With an `onPart`, bodies of these content types that are longer than `maxOtherBodyBytes` are passed on in parts as
   * they arrive, however long they are. Nothing of them is kept.
   */
  readonly streamedTypes?: ReadonlySet<number>;
}

/** A part of a body that is passed on as it arrives. */
export interface BodyPart {
  /** The frame of the body, with copied headers and without a body. It is the same object for each part. */
  readonly frame: Frame;
  /** Length of the whole body in bytes. */
  readonly bodyBytes: number;
  /** Position of the part in the body. */
  readonly at: number;
  /** At least one byte; a view of the chunk. */
  readonly bytes: Uint8Array;
}

export type BodyPartHandler = (part: BodyPart) => void;

/** Limits until the hello is complete. */
export const HELLO_LIMITS: FrameLimits = { maxHeadersBytes: 16_384, maxBodyBytes: 4_192 };

export type DecodeFault = 'bad-magic' | 'headers-too-long' | 'body-too-long' | 'bad-headers' | 'discarded';

/**
 * Receives payloads and acknowledgements, which are decoded without an intermediate `Frame`; undefined for a
 * malformed one.
 */
export type DataFrameHandler = (frame: DataFrame | undefined) => void;

/** An unfinished frame is kept in one piece up to this length, and beyond it in pieces of this length. */
const PIECE_BYTES = 64 * 1024;

export class FrameDecoder {
  limits: FrameLimits;
  /** Number of whole frames so far. An unfinished frame is still the same one if this has not changed. */
  frames = 0;
  #fault: DecodeFault | undefined;
  /** Bytes after the frame at which `onFrame` stopped the decoding. */
  #rest: Uint8Array | undefined;
  /** The unfinished frame: full pieces, then the one that is being filled. */
  #pieces: Uint8Array<ArrayBuffer>[] = [];
  #fullBytes = 0;
  #last: Uint8Array<ArrayBuffer> | undefined;
  #lastBytes = 0;
  #unfinishedBytes = 0;
  /** Length of the unfinished frame, without a body that is passed on in parts; 0 while its head is incomplete. */
  #frameLength = 0;
  /** Whether the receiver of the last payload no longer needs its data. */
  #isSpent = false;
  #onPart: BodyPartHandler | undefined;
  /** The frame whose body is passed on in parts. */
  #streamed: { readonly frame: Frame; readonly bodyBytes: number; at: number } | undefined;

  constructor(limits: FrameLimits) {
    this.limits = limits;
  }

  /** Received bytes of an incomplete frame, or after a frame at which decoding stopped. */
  get bufferedBytes(): number {
    return this.#unfinishedBytes + (this.#rest?.length ?? 0);
  }

  /** The memory that these occupy. */
  get heldBytes(): number {
    if (this.#last === undefined) return this.#rest?.length ?? 0;
    return this.#fullBytes + this.#last.length;
  }

  /**
   * Calls `onFrame` for each whole frame; bodies and headers are views of `chunk` where possible. Returns a fault
   * if the peer violated the framing, and decodes nothing after that. `onFrame` may change `limits`; if it
   * returns false, the rest stays buffered until the next `push` (an empty chunk is sufficient). With `onData`,
   * data frames go there. With `onPart`, long bodies of the limits' `streamedTypes` go there.
   */
  push(
    chunk: Uint8Array,
    onFrame: (frame: Frame) => boolean | void,
    onData?: DataFrameHandler,
    onPart?: BodyPartHandler,
  ): DecodeFault | undefined {
    if (this.#fault !== undefined) return this.#fault;
    this.#onPart = onPart;
    let bytes = chunk;
    let at = 0;
    if (this.#rest !== undefined) {
      bytes = chunk.length === 0 ? this.#rest : concatBytes([this.#rest, chunk]);
      this.#rest = undefined;
    } else if (this.#unfinishedBytes > 0) {
      at = this.#extend(chunk);
      if (at < 0) return this.#fault;
      if (this.#frameLength === 0 || this.#unfinishedBytes < this.#frameLength) return undefined;
      const whole = this.#takeWhole();
      this.#isSpent = false;
      const goesOn = this.#decode(whole, 0, whole.length, onFrame, onData);
      // A payload that was joined has its memory for itself. Freed now, it is still in the caches for the next one.
      if (this.#isSpent) release([whole]);
      if (!goesOn) return this.#stop(chunk, at);
    }
    if (this.#streamed !== undefined) at = this.#passOn(bytes, at);
    while (bytes.length - at >= 4 && !this.#isOver) {
      const frameBytes = this.#frameBytes(bytes, at);
      if (frameBytes < 0) return this.#fault;
      if (frameBytes === 0 || bytes.length - at < frameBytes) break;
      const start = at;
      at += frameBytes;
      if (!this.#decode(bytes, start, at, onFrame, onData)) return this.#stop(bytes, at);
      if (this.#streamed !== undefined) at = this.#passOn(bytes, at);
    }
    if (at < bytes.length && !this.#isOver) this.#begin(bytes, at);
    return undefined;
  }

  /** Also true if a handler of a frame of this push discarded the decoder. */
  get #isOver(): boolean {
    return this.#fault !== undefined;
  }

  /**
   * Decodes the frame between the two positions. Returns false to stop, after a fault or because `onFrame`
   * requested it.
   */
  #decode(
    bytes: Uint8Array,
    start: number,
    end: number,
    onFrame: (frame: Frame) => boolean | void,
    onData: DataFrameHandler | undefined,
  ): boolean {
    const headersEnd = start + FRAME_HEAD_BYTES + readU32(bytes, start + 12);
    if (!checkHeaderBytes(bytes, start + FRAME_HEAD_BYTES, headersEnd)) {
      this.#fail('bad-headers');
      return false;
    }
    this.frames += 1;
    const bodyBytes = readU32(bytes, start + 16);
    if (headersEnd === end && bodyBytes > 0) {
      const frame = frameOf(copyOf(bytes.subarray(start, end)), 0, end - start, end - start);
      this.#streamed = { frame, bodyBytes, at: 0 };
      return true;
    }
    if (onData !== undefined) {
      const contentType = readU32(bytes, start + 4);
      if (contentType === PAYLOAD_TYPE) {
        const data = bytes.subarray(headersEnd, end);
        const payload = payloadOf(bytes, start + FRAME_HEAD_BYTES, headersEnd, data);
        onData(payload);
        if (payload !== undefined) this.#isSpent = payload.isSpent;
        return true;
      }
      if (contentType === ACKNOWLEDGEMENT_TYPE) {
        onData(acknowledgementOf(bytes, start + FRAME_HEAD_BYTES, headersEnd, bytes, headersEnd, end));
        return true;
      }
    }
    return onFrame(frameOf(bytes, start, headersEnd, end)) !== false;
  }

  /** Passes on what a chunk contains of the streamed body. Returns the position behind it. */
  #passOn(bytes: Uint8Array, start: number): number {
    const streamed = this.#streamed!;
    const { frame, bodyBytes, at } = streamed;
    const end = Math.min(bytes.length, start + bodyBytes - at);
    if (end === start) return start;
    streamed.at = at + end - start;
    if (streamed.at === bodyBytes) this.#streamed = undefined;
    this.#onPart?.({ frame, bodyBytes, at, bytes: bytes.subarray(start, end) });
    return end;
  }

  /**
   * Returns the length of the frame at `at`, without a body that is passed on in parts; 0 if its head is incomplete; −1
   * after a fault.
   */
  #frameBytes(bytes: Uint8Array, at: number): number {
    for (let i = 0; i < 4; i += 1) {
      if (bytes[at + i] !== FRAME_MAGIC[i]) return this.#failed('bad-magic');
    }
    if (bytes.length - at < FRAME_HEAD_BYTES) return 0;
    const headersBytes = readU32(bytes, at + 12);
    const bodyBytes = readU32(bytes, at + 16);
    const { maxHeadersBytes, maxBodyBytes, maxOtherBodyBytes = maxBodyBytes, largeTypes } = this.limits;
    if (headersBytes > maxHeadersBytes) return this.#failed('headers-too-long');
    if (bodyBytes > maxOtherBodyBytes) {
      const contentType = readU32(bytes, at + 4);
      const isStreamed = this.#onPart !== undefined && this.limits.streamedTypes?.has(contentType) === true;
      if (isStreamed) return FRAME_HEAD_BYTES + headersBytes;
      const mayBeLarge = largeTypes === undefined || largeTypes.has(contentType);
      if (!mayBeLarge || bodyBytes > maxBodyBytes) return this.#failed('body-too-long');
    }
    return FRAME_HEAD_BYTES + headersBytes + bodyBytes;
  }

  /** Releases the memory. Nothing more is decoded. */
  discard(): void {
    this.#fail('discarded');
  }

  #failed(fault: DecodeFault): -1 {
    this.#fail(fault);
    return -1;
  }

  #fail(fault: DecodeFault): void {
    this.#fault = fault;
    this.#rest = undefined;
    this.#streamed = undefined;
    if (this.#last !== undefined) release([...this.#pieces, this.#last]);
    this.#forgetUnfinished();
  }

  /** Keeps the bytes after `at` for the next `push`, unless decoding stopped because of a fault. */
  #stop(bytes: Uint8Array, at: number): DecodeFault | undefined {
    if (this.#fault === undefined && at < bytes.length) this.#rest = copyOf(bytes.subarray(at));
    return this.#fault;
  }

  /** Begins a frame with the rest of a chunk, which is copied because the chunk's memory is the socket's. */
  #begin(bytes: Uint8Array, at: number): void {
    const cameBytes = bytes.length - at;
    this.#frameLength = cameBytes >= FRAME_HEAD_BYTES ? this.#frameBytes(bytes, at) : 0;
    // A frame of which a third has come gets its memory at once, up to a piece: growing it would be one more copy.
    const roomBytes = 3 * cameBytes >= this.#frameLength ? Math.min(PIECE_BYTES, this.#frameLength) : 0;
    const last = new Uint8Array(Math.max(cameBytes, FRAME_HEAD_BYTES, roomBytes));
    last.set(bytes.subarray(at));
    this.#last = last;
    this.#lastBytes = this.#unfinishedBytes = cameBytes;
  }

  /** Adds the bytes of the unfinished frame. Returns how many of the chunk's bytes that are, or −1 after a fault. */
  #extend(chunk: Uint8Array): number {
    let at = 0;
    if (this.#frameLength === 0) {
      const last = this.#last!;
      at = Math.min(chunk.length, FRAME_HEAD_BYTES - this.#unfinishedBytes);
      last.set(chunk.subarray(0, at), this.#unfinishedBytes);
      this.#lastBytes = this.#unfinishedBytes += at;
      if (this.#unfinishedBytes < 4) return at;
      this.#frameLength = this.#frameBytes(last.subarray(0, this.#unfinishedBytes), 0);
      if (this.#frameLength <= 0) return this.#fault === undefined ? at : -1;
    }
    const takes = Math.min(chunk.length - at, this.#frameLength - this.#unfinishedBytes);
    const end = at + takes;
    this.#makeRoom(takes);
    while (at < end) {
      if (this.#lastBytes === this.#last!.length) this.#addPiece();
      const last = this.#last!;
      const part = chunk.subarray(at, Math.min(end, at + last.length - this.#lastBytes));
      last.set(part, this.#lastBytes);
      this.#lastBytes += part.length;
      at += part.length;
    }
    this.#unfinishedBytes += takes;
    return end;
  }

  /** A short frame stays in one piece that doubles in size, because its length is only a claim of the peer. */
  #makeRoom(takes: number): void {
    const last = this.#last!;
    const wanted = this.#lastBytes + takes;
    if (this.#pieces.length > 0 || wanted <= last.length || last.length >= PIECE_BYTES) return;
    const grown = new Uint8Array(
      Math.min(PIECE_BYTES, Math.max(wanted, Math.min(this.#frameLength, 2 * wanted))),
    );
    grown.set(last.subarray(0, this.#lastBytes));
    this.#last = grown;
  }

  #addPiece(): void {
    this.#pieces.push(this.#last!);
    this.#fullBytes += this.#lastBytes;
    this.#last = new Uint8Array(PIECE_BYTES);
    this.#lastBytes = 0;
  }

  #takeWhole(): Uint8Array<ArrayBuffer> {
    const last = this.#last!.subarray(0, this.#lastBytes);
    if (this.#pieces.length === 0) {
      this.#forgetUnfinished();
      return last;
    }
    const pieces = [...this.#pieces, last];
    const whole = concatBytes(pieces);
    release(pieces);
    this.#forgetUnfinished();
    return whole;
  }

  #forgetUnfinished(): void {
    this.#pieces = [];
    this.#last = undefined;
    this.#fullBytes = this.#lastBytes = this.#unfinishedBytes = this.#frameLength = 0;
  }
}

/** Frees the memory of pieces without views now, rather than at the next garbage collection. */
function release(pieces: readonly Uint8Array<ArrayBuffer>[]): void {
  for (const { buffer } of pieces) buffer.transfer(0);
}

function frameOf(bytes: Uint8Array, at: number, headersEnd: number, end: number): Frame {
  return {
    contentType: readU32(bytes, at + 4) | 0,
    sequence: readU32(bytes, at + 8) | 0,
    headers: new FrameHeaders(bytes.subarray(at + FRAME_HEAD_BYTES, headersEnd)),
    body: bytes.subarray(headersEnd, end),
  };
}
