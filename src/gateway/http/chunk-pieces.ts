/** Data of a stream as one chunk of HTTP/1.1. */

/** Up to this size, copying costs less than what follows from another piece. */
const JOINED_BYTES = 4_096;
const CHUNK_END = Buffer.from('\r\n');

/** Returns the pieces of the chunk. Large data is not copied. */
export function chunkPieces(data: Buffer): readonly Buffer[] {
  const start = `${data.length.toString(16)}\r\n`;
  if (data.length > JOINED_BYTES) return [Buffer.from(start, 'latin1'), data, CHUNK_END];
  const whole = Buffer.allocUnsafe(start.length + data.length + CHUNK_END.length);
  const at = whole.write(start, 'latin1');
  data.copy(whole, at);
  CHUNK_END.copy(whole, at + data.length);
  return [whole];
}
