/**
 * Compresses one response on Node's thread pool. What arrives while the encoder works is taken together, and each piece is
 * flushed, so that a page that is streamed is not held back. Few pieces of all responses are compressed at once; the others
 * wait, and their circuits with them.
 */
import { constants, createBrotliCompress, createGzip, createZstdCompress } from 'node:zlib';
import type { Transform } from 'node:stream';
import { keptBytes } from '#base';
import type { ContentCoding } from '#domain/upstream';

/** Half of the thread pool, so that files and names are not held up. */
const MAX_WORKING = 2;
/** An encoder uses up to 0.4 MB, by measurement. Further responses are sent as they are. */
const MAX_ENCODERS = 64;
/** The largest input of one piece of work, and what may wait before the circuit is paused. */
const MAX_PIECE_BYTES = 65_536;

const ENCODERS: Readonly<Record<ContentCoding, () => Transform>> = {
  gzip: () => createGzip({ level: 1, flush: constants.Z_SYNC_FLUSH }),
  br: () =>
    createBrotliCompress({
      flush: constants.BROTLI_OPERATION_FLUSH,
      params: { [constants.BROTLI_PARAM_QUALITY]: 2, [constants.BROTLI_PARAM_LGWIN]: 18 },
    }),
  zstd: () =>
    createZstdCompress({
      flush: constants.ZSTD_e_flush,
      params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_windowLog]: 18 },
    }),
};

/** Shared by all gateways of this process, as the thread pool is. */
const shared: { encoders: number; working: number; readonly waiting: Set<BodyEncoder> } = {
  encoders: 0,
  working: 0,
  waiting: new Set(),
};

export interface EncoderOwner {
  /** Compressed bytes. */
  encoded(bytes: Uint8Array): void;
  /** Whether the client is behind. The owner calls `resume` once it has caught up. */
  readonly isBlocked: boolean;
  /** More data can be taken. */
  encoderDrained(): void;
  /** All data, after `end`. */
  encoderEnded(): void;
  encoderFailed(error: Error): void;
}

export class BodyEncoder {
  readonly #stream: Transform;
  readonly #owner: EncoderOwner;
  #pending: Uint8Array[] = [];
  #pendingBytes = 0;
  #isWorking = false;
  #isEnding = false;
  #isOver = false;

  private constructor(coding: ContentCoding, owner: EncoderOwner) {
    this.#owner = owner;
    this.#stream = ENCODERS[coding]();
    this.#stream.on('data', (bytes: Uint8Array) => this.#guarded(() => owner.encoded(bytes)));
    this.#stream.on('end', () => {
      if (this.#isOver) return;
      this.destroy();
      this.#guarded(() => owner.encoderEnded());
    });
    this.#stream.on('error', (error: Error) => this.#fail(error));
  }

  /** Returns undefined if too many responses are compressed already. */
  static open(coding: ContentCoding, owner: EncoderOwner): BodyEncoder | undefined {
    if (shared.encoders >= MAX_ENCODERS) return undefined;
    const encoder = new BodyEncoder(coding, owner);
    shared.encoders += 1;
    return encoder;
  }

  /** Whether the circuit is to be paused until `encoderDrained`. */
  get isFull(): boolean {
    return this.#pendingBytes >= MAX_PIECE_BYTES;
  }

  write(view: Uint8Array): void {
    // The view may be a part of a larger read buffer.
    this.#pending.push(keptBytes(view));
    this.#pendingBytes += view.length;
    this.resume();
  }

  end(): void {
    this.#isEnding = true;
    this.resume();
  }

  /** Continues, if there is something to do and a place to do it. */
  resume(): void {
    if (this.#isWorking || this.#isOver || this.#owner.isBlocked) return;
    if (this.#pending.length === 0 && !this.#isEnding) return;
    if (shared.working >= MAX_WORKING) {
      shared.waiting.add(this);
      return;
    }
    this.#isWorking = true;
    shared.working += 1;
    const pieces = this.#pending;
    this.#pending = [];
    this.#pendingBytes = 0;
    const stream = this.#stream;
    if (pieces.length === 0) stream.end();
    else stream.write(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces), () => this.#worked());
  }

  destroy(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#pending = [];
    shared.encoders -= 1;
    shared.waiting.delete(this);
    this.#stream.destroy();
    this.#rest();
  }

  #worked(): void {
    if (this.#isOver) return;
    this.#rest();
    this.#guarded(() => {
      this.resume();
      if (!this.isFull && !this.#isEnding) this.#owner.encoderDrained();
    });
  }

  /** Leaves its place to the next one that waits. */
  #rest(): void {
    if (!this.#isWorking) return;
    this.#isWorking = false;
    shared.working -= 1;
    // One whose client is slow does not take the place.
    for (const next of shared.waiting) {
      if (shared.working >= MAX_WORKING) return;
      shared.waiting.delete(next);
      next.resume();
    }
  }

  #guarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #fail(error: Error): void {
    if (this.#isOver) return;
    this.destroy();
    this.#owner.encoderFailed(error);
  }
}
