/**
 * An HTTP client for tests that sees what a user's client would: the bytes, their digest, and whether the answer is
 * whole by its own framing or broken. It reads only while it is asked to, so that it can be a slow reader as well.
 */
import { createHash } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { within } from './deadline.ts';

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly bodyBytes: number;
  readonly sha256: string;
  /** The start of the body, Latin-1. */
  readonly text: string;
  /** By Content-Length, or by the last chunk. False when the connection ended before. */
  readonly isComplete: boolean;
  readonly wasReset: boolean;
}

export interface RawRequest {
  readonly method?: string;
  readonly path: string;
  readonly host: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const MAX_TEXT = 16_384;

export class RawHttpClient {
  readonly socket: Socket;
  wasReset = false;
  isClosed = false;
  #pending: Buffer = Buffer.alloc(0);
  #head = '';
  #digest = createHash('sha256');
  #text = '';
  #bodyBytes = 0;
  #left = 0;
  #isChunked = false;
  #inTrailer = false;
  #isComplete = false;
  readonly #watchers = new Set<() => void>();

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => {
      this.#read(bytes);
      this.#notify();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.wasReset ||= error.code === 'ECONNRESET' || error.code === 'EPIPE';
    });
    for (const event of ['end', 'close'] as const) {
      socket.on(event, () => {
        this.isClosed = true;
        this.#notify();
      });
    }
  }

  static async open(port: number): Promise<RawHttpClient> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const connected = Promise.withResolvers<void>();
    socket.once('connect', connected.resolve);
    socket.once('error', connected.reject);
    await within(`a connection to port ${port}`, connected.promise);
    return new RawHttpClient(socket);
  }

  request({ method = 'GET', path, host, headers = {} }: RawRequest): void {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    this.socket.write(`${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${lines.join('')}\r\n`);
  }

  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  get isOver(): boolean {
    return this.#isComplete || this.isClosed;
  }

  /** Waits until `test` holds; rejects after the deadline. */
  async until(what: string, test: () => boolean, timeoutMs = 30_000): Promise<void> {
    if (test()) return;
    const seen = Promise.withResolvers<void>();
    const watch = (): void => {
      if (test()) seen.resolve();
    };
    this.#watchers.add(watch);
    try {
      await within(what, seen.promise, timeoutMs);
    } finally {
      this.#watchers.delete(watch);
    }
  }

  /** The answer, once it is whole or its connection has ended. */
  async answer(timeoutMs = 30_000): Promise<RawAnswer> {
    await this.until('the end of the answer', () => this.isOver, timeoutMs);
    return {
      status: Number(this.#head.split(' ', 2)[1] ?? 0),
      head: this.#head,
      bodyBytes: this.#bodyBytes,
      sha256: this.#digest.copy().digest('hex'),
      text: this.#text,
      isComplete: this.#isComplete,
      wasReset: this.wasReset,
    };
  }

  /** Destroys the connection without ending it. */
  vanish(): void {
    this.socket.resetAndDestroy();
  }

  close(): void {
    this.socket.destroy();
  }

  #notify(): void {
    for (const watch of this.#watchers) watch();
  }

  #read(bytes: Buffer): void {
    let rest = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    this.#pending = Buffer.alloc(0);
    if (this.#head === '') {
      const end = rest.indexOf('\r\n\r\n');
      if (end < 0) {
        this.#pending = rest;
        return;
      }
      this.#head = rest.toString('latin1', 0, end);
      rest = rest.subarray(end + 4);
      this.#isChunked = /^transfer-encoding: chunked$/im.test(this.#head);
      this.#left = this.#isChunked
        ? 0
        : Number(/^content-length: (\d+)$/im.exec(this.#head)?.[1] ?? Infinity);
    }
    if (this.#isChunked) this.#readChunks(rest);
    else this.#take(rest);
    if (!this.#isChunked && this.#left === 0) this.#isComplete = true;
  }

  #readChunks(bytes: Buffer): void {
    let rest = bytes;
    while (rest.length > 0 && !this.#isComplete) {
      if (this.#left > 0) {
        const now = Math.min(this.#left, rest.length);
        this.#take(rest.subarray(0, now));
        rest = rest.subarray(now);
        continue;
      }
      const end = rest.indexOf('\r\n');
      if (end < 0) break;
      const line = rest.toString('latin1', 0, end);
      rest = rest.subarray(end + 2);
      if (this.#inTrailer) this.#isComplete = line === '';
      else if (line !== '') {
        this.#left = Number.parseInt(line, 16);
        this.#inTrailer = this.#left === 0;
      }
    }
    this.#pending = rest;
  }

  #take(bytes: Buffer): void {
    this.#digest.update(bytes);
    this.#bodyBytes += bytes.length;
    this.#left -= bytes.length;
    if (this.#text.length < MAX_TEXT) this.#text += bytes.toString('latin1', 0, MAX_TEXT - this.#text.length);
  }
}

/** One request on a connection of its own. */
export async function askRaw(port: number, request: RawRequest, timeoutMs = 30_000): Promise<RawAnswer> {
  const client = await RawHttpClient.open(port);
  try {
    client.request(request);
    return await client.answer(timeoutMs);
  } finally {
    client.close();
  }
}
