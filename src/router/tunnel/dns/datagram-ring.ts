/**
 * Datagrams on their way from one thread to another, in memory that both share: a ring of bytes with one writer and one
 * reader. A message between threads would cost more than the query that is in it. Each entry is the length of the datagram,
 * its source as the system writes it, and the datagram; entries are not divided at the end of the memory.
 */
import { SOCKADDR_IN6_BYTES } from '../machine/socket-calls.ts';

export interface SourcedDatagram {
  readonly source: Buffer;
  readonly data: Buffer;
}

/** Indexes of positions: bytes that were written and read since the start, modulo 2^32. */
const WRITTEN = 0;
const READ = 1;
const POSITIONS_BYTES = 8;
/** A power of two, so that positions remain right when they begin anew. */
const CAPACITY = 256 * 1024;
const LENGTH_BYTES = 4;
const HEAD_BYTES = LENGTH_BYTES + SOCKADDR_IN6_BYTES;
/** In place of a length: the next entry is at the start of the memory. */
const TO_START = 0xffff_ffff;

export class DatagramRing {
  readonly shared: SharedArrayBuffer;
  readonly #positions: Int32Array;
  readonly #bytes: Buffer;

  /** The other thread opens the same memory. */
  constructor(shared = new SharedArrayBuffer(POSITIONS_BYTES + CAPACITY)) {
    this.shared = shared;
    this.#positions = new Int32Array(shared, 0, 2);
    this.#bytes = Buffer.from(shared, POSITIONS_BYTES);
  }

  /** Writes a datagram, and wakes the reader that waits. Returns false if it has no place. */
  push(source: Buffer, data: Buffer): boolean {
    const written = Atomics.load(this.#positions, WRITTEN);
    const used = (written - Atomics.load(this.#positions, READ)) >>> 0;
    const size = sizeOf(data.length);
    let at = indexOf(written);
    const skipped = at + size > CAPACITY ? CAPACITY - at : 0;
    if (used + skipped + size > CAPACITY) return false;
    if (skipped > 0) {
      this.#bytes.writeUInt32LE(TO_START, at);
      at = 0;
    }
    this.#bytes.writeUInt32LE(data.length, at);
    source.copy(this.#bytes, at + LENGTH_BYTES, 0, SOCKADDR_IN6_BYTES);
    data.copy(this.#bytes, at + HEAD_BYTES);
    Atomics.store(this.#positions, WRITTEN, (written + skipped + size) | 0);
    Atomics.notify(this.#positions, WRITTEN);
    return true;
  }

  /** Returns a copy of the next datagram, or undefined if there is none. */
  shift(): SourcedDatagram | undefined {
    const read = Atomics.load(this.#positions, READ);
    if (read === Atomics.load(this.#positions, WRITTEN)) return undefined;
    let at = indexOf(read);
    let skipped = 0;
    if (this.#bytes.readUInt32LE(at) === TO_START) {
      skipped = CAPACITY - at;
      at = 0;
    }
    const length = this.#bytes.readUInt32LE(at);
    const entry = Buffer.allocUnsafe(SOCKADDR_IN6_BYTES + length);
    this.#bytes.copy(entry, 0, at + LENGTH_BYTES, at + HEAD_BYTES + length);
    Atomics.store(this.#positions, READ, (read + skipped + sizeOf(length)) | 0);
    return { source: entry.subarray(0, SOCKADDR_IN6_BYTES), data: entry.subarray(SOCKADDR_IN6_BYTES) };
  }

  /** Returns undefined if there is a datagram now, else a promise that resolves when one comes, or by `wake`. */
  wait(): Promise<unknown> | undefined {
    const wait = Atomics.waitAsync(this.#positions, WRITTEN, Atomics.load(this.#positions, READ));
    return wait.async ? wait.value : undefined;
  }

  /** Ends the waiting of the reader. */
  wake(): void {
    Atomics.notify(this.#positions, WRITTEN);
  }
}

function indexOf(position: number): number {
  return (position >>> 0) % CAPACITY;
}

/** Entries are aligned, so that a length is never divided. */
function sizeOf(dataBytes: number): number {
  return (HEAD_BYTES + dataBytes + 3) & ~3;
}
