/**
 * OpenZiti's channel frame: magic, content type, sequence, lengths, headers, body; integers little-endian.
 * Data-path frames (payload, acknowledgement) are classes of their own in `payload-codec.ts`.
 */
import { EMPTY_BYTES, textOf, utf8 } from '#base';
import { FrameHeaders, HeaderWriter, writeU32 } from './frame-headers.ts';

export const FRAME_MAGIC = Uint8Array.of(0x03, 0x06, 0x09, 0x0c);
/** The same as a number. */
const MAGIC_WORD = 0x0c_09_06_03;
export const FRAME_HEAD_BYTES = 20;

/** Header 1: the sequence of the request that this frame answers. */
export const REPLY_FOR = 1;

export interface Frame {
  readonly contentType: number;
  /** i32. The channel sets it when the frame is sent. */
  sequence: number;
  readonly headers: FrameHeaders;
  readonly body: Uint8Array;
  /** What `body` encodes, if the sender is in this process and passed it on: `ProtobufMessage.passedFrame`. */
  readonly message?: object | undefined;
}

export interface FrameParts {
  readonly headers?: FrameHeaders | HeaderWriter;
  readonly body?: Uint8Array | string;
  readonly sequence?: number;
}

export function makeFrame(contentType: number, parts: FrameParts = {}): Frame {
  const { headers = FrameHeaders.empty, body = EMPTY_BYTES, sequence = 0 } = parts;
  return {
    contentType,
    sequence,
    headers: headers instanceof HeaderWriter ? headers.build() : headers,
    body: typeof body === 'string' ? utf8(body) : body,
  };
}

/** The body as UTF-8. */
export function textOfBody(frame: Frame): string {
  return textOf(frame.body);
}

/** The request's sequence if the frame is a reply. −1 means none. */
export function replyForOf(frame: Frame): number | undefined {
  const sequence = frame.headers.i32(REPLY_FOR);
  return sequence === -1 ? undefined : sequence;
}

/** Returns a copy with header 1 added at the front. */
export function asReplyTo(request: Frame, frame: Frame): Frame {
  const headers = new HeaderWriter().u32(REPLY_FOR, request.sequence).copy(frame.headers).build();
  return { contentType: frame.contentType, sequence: frame.sequence, headers, body: frame.body };
}

export function writeFrameHead(
  target: Uint8Array,
  at: number,
  contentType: number,
  sequence: number,
  headersBytes: number,
  bodyBytes: number,
): void {
  writeU32(target, at, MAGIC_WORD);
  writeU32(target, at + 4, contentType);
  writeU32(target, at + 8, sequence);
  writeU32(target, at + 12, headersBytes);
  writeU32(target, at + 16, bodyBytes);
}

/** Encodes the whole frame into one new buffer. */
export function encodeFrame(frame: Frame): Uint8Array<ArrayBuffer> {
  const { raw } = frame.headers;
  const bytes = new Uint8Array(FRAME_HEAD_BYTES + raw.length + frame.body.length);
  writeFrameHead(bytes, 0, frame.contentType, frame.sequence, raw.length, frame.body.length);
  bytes.set(raw, FRAME_HEAD_BYTES);
  bytes.set(frame.body, FRAME_HEAD_BYTES + raw.length);
  return bytes;
}

/** What a listener sends, unframed, in response to an unknown magic before it closes: two versions, 1 and 2. */
export const UNKNOWN_VERSION_ANSWER = Uint8Array.of(3, 6, 9, 0x0a, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0);
