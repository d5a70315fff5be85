/** Sends bytes through a stream whose far end returns them, and compares both by SHA-256. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';

const PIECE_BYTES = 1_048_576;
const LENGTH_BYTES = 8;

/** Ends the stream after the last byte, and expects that the far end does the same. */
export async function sendAndReceive(stream: Duplex, byteCount: number): Promise<void> {
  const ended = once(stream, 'end');
  const received = receiving(stream, byteCount);
  const sent = await send(stream, byteCount);
  stream.end();
  await ended;
  assert.equal(await received, sent);
}

/**
 * For far ends that do not see the end of a stream: they get the number of bytes first (8 bytes, the most significant
 * first). The stream is destroyed when all of them have come back.
 */
export async function countedExchange(stream: Duplex, byteCount: number): Promise<void> {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeBigUInt64BE(BigInt(byteCount));
  stream.write(length);
  const received = receiving(stream, byteCount);
  // It rejects besides `send` when the stream breaks while that waits for room.
  received.catch(() => {});
  const sent = await send(stream, byteCount);
  assert.equal(await received, sent);
  stream.destroy();
}

async function send(stream: Duplex, byteCount: number): Promise<string> {
  const hash = createHash('sha256');
  const piece = randomBytes(PIECE_BYTES);
  for (let count = 0; count < byteCount; count += piece.length) {
    piece.writeUInt32BE(count, 0);
    const part = piece.subarray(0, Math.min(piece.length, byteCount - count));
    hash.update(part);
    if (!stream.write(part)) await once(stream, 'drain');
  }
  return hash.digest('hex');
}

/** Resolves to the digest of that many bytes. Rejects if more or fewer come. */
function receiving(stream: Duplex, byteCount: number): Promise<string> {
  const hash = createHash('sha256');
  let count = 0;
  return new Promise((resolve, reject) => {
    stream.on('data', (part: Buffer) => {
      hash.update(part);
      count += part.length;
      if (count === byteCount) resolve(hash.digest('hex'));
      else if (count > byteCount) reject(new Error(`${count} bytes of ${byteCount} came back`));
    });
    stream.once('close', () => reject(new Error(`${count} bytes of ${byteCount} came back`)));
    stream.once('error', reject);
  });
}

/** The far end of `countedExchange`: returns the announced bytes, and ends the stream. */
export function returnCounted(stream: Duplex): void {
  let head = Buffer.alloc(0);
  let left: number | undefined;
  const onData = (part: Buffer): void => {
    let rest = part;
    if (left === undefined) {
      head = Buffer.concat([head, part]);
      if (head.length < LENGTH_BYTES) return;
      left = Number(head.readBigUInt64BE());
      rest = head.subarray(LENGTH_BYTES);
    }
    left -= rest.length;
    if (rest.length > 0 && !stream.write(rest)) {
      stream.pause();
      stream.once('drain', () => stream.resume());
    }
    if (left <= 0) stream.end();
  };
  stream.on('data', onData);
}
