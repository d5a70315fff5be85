/**
 * Messages in chunks: the first begins with the total length as a varint, the others contain only data, and all
 * have the chunk flag. Only for ends whose payloads are messages and must not be split.
 */
import { concatBytes } from '#base';

/** A chunk has room for the length and some data. */
export const MIN_CHUNK_BYTES = 8;
/** Maximum length of the varint for a message that we accept. */
const MAX_HEAD_BYTES = 5;

export interface ChunkHead {
  readonly messageBytes: number;
  readonly headBytes: number;
}

/** Returns undefined if there is no length at the beginning. */
export function chunkHead(data: Uint8Array): ChunkHead | undefined {
  let messageBytes = 0;
  for (let at = 0; at < MAX_HEAD_BYTES && at < data.length; at += 1) {
    messageBytes += (data[at]! & 0x7f) * 2 ** (7 * at);
    if (data[at]! < 0x80) return { messageBytes, headBytes: at + 1 };
  }
  return undefined;
}

/** Returns what the first chunk begins with. */
export function chunkLength(messageBytes: number): Uint8Array {
  const head: number[] = [];
  for (let rest = messageBytes; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) {
      head.push(rest);
      return Uint8Array.from(head);
    }
    head.push((rest % 128) + 128);
  }
}

/** Returns pieces of at most `maxBytes` (at least 8), the first with the length before it. */
export function chunksOf(message: Uint8Array, maxBytes: number): Uint8Array[] {
  const size = Math.max(maxBytes, MIN_CHUNK_BYTES);
  const head = chunkLength(message.length);
  const firstBytes = size - head.length;
  const chunks: Uint8Array[] = [concatBytes([head, message.subarray(0, firstBytes)])];
  for (let at = firstBytes; at < message.length; at += size) chunks.push(message.subarray(at, at + size));
  return chunks;
}
