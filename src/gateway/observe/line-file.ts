/**
 * Writes lines to a file or to standard output, one write at a time, without blocking its callers. Lines that a
 * full disk or a slow reader does not accept are dropped and counted, with one log record when that begins and
 * one when it ends.
 */
import { close, constants, fstatSync, openSync, write } from 'node:fs';
import { FrontdoorError, messageOf, type Log } from '#base';
import { waitAtMost } from '#net';

export interface LineFileOptions {
  /** `-` is standard output. */
  readonly path: string;
  readonly log: Log;
  /** Limit for the bytes that wait to be written. */
  readonly maxWaitingBytes?: number;
}

interface Piece {
  readonly bytes: Buffer;
  readonly lines: number;
}

const MAX_WAITING_BYTES = 4 * 1_048_576;
const MODE = 0o600;
const RETRY_MS = 50;
const LINE_FEED = 10;

export class LineFile {
  readonly #options: LineFileOptions;
  readonly #maxWaitingBytes: number;
  #fd: number;
  #isOwn: boolean;
  readonly #pieces: Piece[] = [];
  #waitingBytes = 0;
  #writing: Piece | undefined;
  /** How much of the current piece is written. */
  #offset = 0;
  #idle: (() => void)[] = [];
  /** Whether the last written byte is inside a line. */
  #isMidLine = false;
  #isDropping = false;
  #droppedNow = 0;
  #dropped = 0;
  #closed = false;

  /** @throws FrontdoorError `cannot-open-log` */
  constructor(options: LineFileOptions) {
    this.#options = options;
    this.#maxWaitingBytes = options.maxWaitingBytes ?? MAX_WAITING_BYTES;
    ({ fd: this.#fd, isOwn: this.#isOwn } = openLines(options.path));
  }

  /** Number of dropped lines. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Adds `bytes`, which contain this many whole lines. */
  add(bytes: Buffer, lines: number): void {
    if (this.#waitingBytes + bytes.length > this.#maxWaitingBytes || this.#closed) {
      this.#drop(lines, 'they are not read fast enough');
      return;
    }
    this.#waitingBytes += bytes.length;
    this.#pieces.push({ bytes, lines });
    this.#next();
  }

  /** Opens a new file of the same name, after the old one was moved away. If that fails, the old file stays in use. */
  reopen(): void {
    if (this.#options.path === '-' || this.#closed) return;
    try {
      const old = this.#fd;
      ({ fd: this.#fd, isOwn: this.#isOwn } = openLines(this.#options.path));
      this.#whenIdle(() => close(old, () => {}));
    } catch (error) {
      this.#options.log.error(
        { cause: messageOf(error) },
        'the access log cannot be reopened; writing to the old file',
      );
    }
  }

  /** Writes pending lines, for at most `timeoutMs`. */
  async close(timeoutMs: number): Promise<void> {
    if (this.#closed) return;
    const drained = Promise.withResolvers<void>();
    this.#whenDrained(drained.resolve);
    await waitAtMost(drained.promise, timeoutMs);
    this.#closed = true;
    if (this.#waitingBytes > 0) this.#options.log.warn({}, 'closed before the whole access log was written');
    const fd = this.#fd;
    if (this.#isOwn) this.#whenIdle(() => close(fd, () => {}));
  }

  #next(): void {
    if (this.#writing !== undefined || this.#closed) return;
    const piece = this.#pieces.shift();
    if (piece === undefined) return;
    // The rest of an interrupted line becomes a line of its own.
    const bytes = this.#isMidLine ? Buffer.concat([Buffer.of(LINE_FEED), piece.bytes]) : piece.bytes;
    this.#waitingBytes += bytes.length - piece.bytes.length;
    this.#writing = { bytes, lines: piece.lines };
    this.#offset = 0;
    this.#send(this.#fd, this.#writing);
  }

  #send(fd: number, piece: Piece): void {
    const { bytes } = piece;
    write(fd, bytes, this.#offset, bytes.length - this.#offset, null, (error, written) => {
      if (error === null) this.#offset += written;
      if (error === null && this.#offset < bytes.length) this.#send(fd, piece);
      else if (error?.code === 'EAGAIN' && !this.#closed)
        setTimeout(() => this.#send(fd, piece), RETRY_MS).unref();
      else this.#written(piece, error);
    });
  }

  #written({ bytes }: Piece, error: Error | null): void {
    this.#waitingBytes -= bytes.length;
    this.#writing = undefined;
    if (this.#offset > 0) this.#isMidLine = bytes[this.#offset - 1] !== LINE_FEED;
    if (error === null) this.#recovered();
    else this.#drop(linesOf(bytes.subarray(this.#offset)), messageOf(error));
    for (const idle of this.#idle.splice(0)) idle();
    this.#next();
  }

  #drop(lines: number, cause: string): void {
    this.#dropped += lines;
    this.#droppedNow += lines;
    if (this.#isDropping) return;
    this.#isDropping = true;
    this.#options.log.warn({ cause }, 'dropping lines of the access log');
  }

  #recovered(): void {
    if (!this.#isDropping || this.#waitingBytes > this.#maxWaitingBytes / 2) return;
    this.#options.log.warn({ dropped: this.#droppedNow }, 'the access log is written again');
    this.#isDropping = false;
    this.#droppedNow = 0;
  }

  #whenIdle(then: () => void): void {
    if (this.#writing === undefined) then();
    else this.#idle.push(then);
  }

  #whenDrained(then: () => void): void {
    if (this.#pieces.length === 0) this.#whenIdle(then);
    else this.#idle.push(() => this.#whenDrained(then));
  }
}

function openLines(path: string): { fd: number; isOwn: boolean } {
  try {
    if (path !== '-') return { fd: openSync(path, 'a', MODE), isOwn: true };
    if (!fstatSync(1).isFIFO()) return { fd: 1, isOwn: false };
    return { fd: openPipe(), isOwn: true };
  } catch (cause) {
    const message = `the access log ${path} cannot be opened: ${messageOf(cause)}`;
    throw new FrontdoorError('invalid', 'cannot-open-log', message, { cause });
  }
}

/**
 * Opens a separate description of the pipe, so that a write to a full pipe fails at once and does not block a
 * thread.
 */
function openPipe(): number {
  return openSync('/dev/stdout', constants.O_WRONLY | constants.O_NONBLOCK);
}

function linesOf(bytes: Uint8Array): number {
  let lines = 0;
  for (const byte of bytes) if (byte === LINE_FEED) lines += 1;
  return lines;
}
