/**
 * Many connections to an echo service that never rest: each sends a little at short intervals and compares what comes
 * back with what it sent at that place, so that a lost, doubled or foreign byte shows at once; and it notes when
 * nothing came.
 */
import { connect, type Socket } from 'node:net';
import { until, within } from './deadline.ts';
import { closeOf } from './socket-end.ts';

export interface SteadyOptions {
  readonly port: number;
  readonly count: number;
  readonly pieceBytes?: number;
  readonly everyMs?: number;
  readonly openWithinMs?: number;
}

/** Prime, so that no piece and no frame is a whole number of it. */
const PATTERN_BYTES = 65_521;
const PATTERN = Buffer.from(
  Uint8Array.from({ length: PATTERN_BYTES }, (_, i) => (i * 167 + (i >> 8) * 59) & 0xff),
);
/** Bytes that were sent and have not come back yet. */
const MAX_OUT_BYTES = 256 * 1_024;

export class SteadyStream {
  readonly socket: Socket;
  readonly #shift: number;
  sentBytes = 0;
  receivedBytes = 0;
  /** Problem of the received bytes. */
  mismatch: string | undefined;
  isEnded = false;
  isClosed = false;
  /** Error of the socket. */
  error: string | undefined;
  lastReceivedMs = Date.now();
  /** The longest time without a byte since `mark`. */
  gap = { fromMs: 0, toMs: 0 };

  constructor(port: number, number: number) {
    this.#shift = (number * 977) % PATTERN_BYTES;
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    this.socket.on('data', (bytes: Buffer) => this.#onData(bytes));
    this.socket.on('end', () => (this.isEnded = true));
    this.socket.on('error', (error) => (this.error = error.message));
    this.socket.on('close', () => (this.isClosed = true));
  }

  /** Came back whole, and ended as it should. */
  get isIntact(): boolean {
    return this.isEnded && this.mismatch === undefined && this.receivedBytes === this.sentBytes;
  }

  /** Whether it broke in a way that cannot be mistaken for the end of the stream. */
  get isVisiblyBroken(): boolean {
    return this.isClosed && this.error !== undefined && this.mismatch === undefined;
  }

  mark(): void {
    const nowMs = Date.now();
    this.gap = { fromMs: nowMs, toMs: nowMs };
    this.lastReceivedMs = nowMs;
  }

  send(bytes: number): void {
    if (this.socket.destroyed || !this.socket.writable) return;
    if (this.sentBytes - this.receivedBytes > MAX_OUT_BYTES) return;
    this.socket.write(this.#piece(this.sentBytes, bytes));
    this.sentBytes += bytes;
  }

  #piece(from: number, bytes: number): Buffer {
    const piece = Buffer.allocUnsafe(bytes);
    let at = (from + this.#shift) % PATTERN_BYTES;
    for (let done = 0; done < bytes; at = 0) done += PATTERN.copy(piece, done, at);
    return piece;
  }

  #onData(bytes: Buffer): void {
    const nowMs = Date.now();
    if (nowMs - this.lastReceivedMs > this.gap.toMs - this.gap.fromMs)
      this.gap = { fromMs: this.lastReceivedMs, toMs: nowMs };
    this.lastReceivedMs = nowMs;
    if (!bytes.equals(this.#piece(this.receivedBytes, bytes.length)))
      this.mismatch ??= `wrong bytes in the ${bytes.length} from ${this.receivedBytes} on`;
    this.receivedBytes += bytes.length;
    if (this.receivedBytes > this.sentBytes) this.mismatch ??= 'more bytes than were sent';
  }
}

export class SteadyStreams {
  readonly all: readonly SteadyStream[];
  readonly #timer: NodeJS.Timeout;

  private constructor(streams: readonly SteadyStream[], pieceBytes: number, everyMs: number) {
    this.all = streams;
    this.#timer = setInterval(() => {
      for (const stream of streams) stream.send(pieceBytes);
    }, everyMs);
  }

  /** Resolves when each got its first bytes back. */
  static async open(options: SteadyOptions): Promise<SteadyStreams> {
    const { port, count, pieceBytes = 1_500, everyMs = 100, openWithinMs = 30_000 } = options;
    const streams = Array.from({ length: count }, (_, number) => new SteadyStream(port, number));
    const all = new SteadyStreams(streams, pieceBytes, everyMs);
    for (const stream of streams) stream.send(pieceBytes);
    try {
      await until(
        `${count} streams`,
        () => streams.filter(({ receivedBytes }) => receivedBytes > 0).length,
        (open) => open === count,
        openWithinMs,
      );
      return all;
    } catch (error) {
      all.close();
      throw error;
    }
  }

  mark(): void {
    for (const stream of this.all) stream.mark();
  }

  /** Waits until all have received something after now. */
  async untilAllMove(timeoutMs: number): Promise<number> {
    const nowMs = Date.now();
    const { tookMs } = await until(
      'every stream moves on',
      () => this.all.filter(({ lastReceivedMs }) => lastReceivedMs <= nowMs).length,
      (still) => still === 0,
      timeoutMs,
    );
    return tookMs;
  }

  /** Ends them all from here and waits for what is still to come. How many came back whole; why others did not. */
  async finish(timeoutMs: number): Promise<{ readonly intact: number; readonly problems: string[] }> {
    clearInterval(this.#timer);
    const done = this.all.map(async ({ socket }) => {
      socket.end();
      await closeOf(socket);
    });
    await within('the streams to end', Promise.all(done), timeoutMs).catch(() => {});
    this.close();
    const problems = this.all.flatMap((stream, number) =>
      stream.isIntact
        ? []
        : [
            `stream ${number}: ${stream.receivedBytes} of ${stream.sentBytes} bytes, ` +
              (stream.mismatch ?? stream.error ?? (stream.isEnded ? 'ended early' : 'not ended')),
          ],
    );
    return { intact: this.all.length - problems.length, problems };
  }

  /** Waits until the other side has closed each stream; resolves to the number that broke visibly. */
  async untilBroken(timeoutMs: number): Promise<number> {
    await until(
      'every stream is closed',
      () => this.all.filter(({ isClosed }) => !isClosed).length,
      (open) => open === 0,
      timeoutMs,
    ).catch(() => {});
    return this.all.filter(({ isVisiblyBroken }) => isVisiblyBroken).length;
  }

  close(): void {
    clearInterval(this.#timer);
    for (const { socket } of this.all) socket.destroy();
  }
}
