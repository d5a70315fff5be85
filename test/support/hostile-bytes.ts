/**
 * Frames that violate the framing, by name. No listener may allocate memory for them or fail because of them.
 */
import { FRAME_HEAD_BYTES, HELLO_TYPE, writeFrameHead } from '#wire';

/** A frame's head alone, with the lengths it claims. */
export function frameHead(contentType: number, headersBytes: number, bodyBytes: number): Uint8Array {
  const bytes = new Uint8Array(FRAME_HEAD_BYTES);
  writeFrameHead(bytes, 0, contentType, 1, headersBytes, bodyBytes);
  return bytes;
}

/** One header entry that claims more bytes than there are. */
function overlongHeader(): Uint8Array {
  const bytes = new Uint8Array(FRAME_HEAD_BYTES + 12);
  writeFrameHead(bytes, 0, HELLO_TYPE, 1, 12, 0);
  const view = new DataView(bytes.buffer);
  view.setUint32(FRAME_HEAD_BYTES, 1_000, true);
  view.setUint32(FRAME_HEAD_BYTES + 4, 0xffff_ffff, true);
  return bytes;
}

export const BROKEN_FRAMES: readonly (readonly [name: string, bytes: Uint8Array])[] = [
  ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')],
  ['a TLS record', Uint8Array.of(22, 3, 1, 0, 4, 1, 2, 3, 4)],
  ['headers of 2^31 - 1 bytes', frameHead(HELLO_TYPE, 0x7fff_ffff, 0)],
  ['headers of 2^31 bytes', frameHead(HELLO_TYPE, 0x8000_0000, 0)],
  ['headers of 2^32 - 1 bytes', frameHead(HELLO_TYPE, 0xffff_ffff, 0)],
  ['a body of 2^31 - 1 bytes', frameHead(HELLO_TYPE, 0, 0x7fff_ffff)],
  ['a body of 2^31 bytes', frameHead(HELLO_TYPE, 0, 0x8000_0000)],
  ['a body of 2^32 - 1 bytes', frameHead(HELLO_TYPE, 0, 0xffff_ffff)],
  ['lengths whose sum wraps around', frameHead(HELLO_TYPE, 0xffff_fff0, 0x10)],
  ['a header longer than its frame', overlongHeader()],
];
