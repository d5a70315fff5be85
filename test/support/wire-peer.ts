/**
 * A peer of the wire protocol that may violate it: a TLS connection with any certificate or none. A test
 * sends any bytes on it, and reads the frames that come back and when the other side closes.
 */
import { connect, type TLSSocket } from 'node:tls';
import {
  encodeFrame,
  FrameDecoder,
  HeaderWriter,
  headerId,
  makeHello,
  replyForOf,
  type Frame,
  type FrameHeaders,
} from '#wire';
import { within } from './deadline.ts';

export interface WireCredentials {
  readonly cert: string;
  readonly key: string;
}

export interface WirePeerOptions {
  readonly port: number;
  readonly alpn: string;
  /** Without it the client shows no certificate. */
  readonly credentials?: WireCredentials | undefined;
}

const LIMITS = { maxHeadersBytes: 1 << 20, maxBodyBytes: 16 << 20 };

export class WirePeer {
  readonly frames: Frame[] = [];
  readonly socket: TLSSocket;
  isClosed = false;
  readonly #decoder = new FrameDecoder(LIMITS);
  readonly #watchers = new Set<() => void>();
  #sequence = 0;

  private constructor(socket: TLSSocket) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => {
      this.#decoder.push(bytes, (frame) => {
        // A copy: the bytes are the socket's.
        this.frames.push({ ...frame, body: frame.body.slice() });
      });
      this.#notify();
    });
    socket.on('error', () => {});
    for (const event of ['end', 'close'] as const) {
      socket.on(event, () => {
        this.isClosed = true;
        this.#notify();
      });
    }
  }

  /** Resolves after the handshake; rejects when it fails. */
  static async open({ port, alpn, credentials }: WirePeerOptions): Promise<WirePeer> {
    const socket = connect({
      host: '127.0.0.1',
      port,
      servername: 'localhost',
      ALPNProtocols: [alpn],
      rejectUnauthorized: false,
      ...credentials,
    });
    socket.setNoDelay(true);
    const ready = Promise.withResolvers<void>();
    socket.once('secureConnect', ready.resolve);
    socket.once('error', ready.reject);
    socket.once('close', () => ready.reject(new Error('closed in the handshake')));
    const peer = new WirePeer(socket);
    await within('the TLS handshake', ready.promise);
    return peer;
  }

  sendBytes(bytes: Uint8Array): void {
    if (!this.socket.destroyed) this.socket.write(bytes);
  }

  /** Sends a frame with the next sequence number, as a correct peer does. */
  send(frame: Frame): number {
    this.#sequence += 1;
    this.sendBytes(encodeFrame({ ...frame, sequence: this.#sequence }));
    return this.#sequence;
  }

  /** The answer to a hello; undefined when the connection was closed instead. */
  async hello(id: string, headers: FrameHeaders): Promise<Frame | undefined> {
    this.sendBytes(encodeFrame(makeHello(id, headers)));
    await this.until('an answer to the hello', () => this.frames.length > 0 || this.isClosed);
    return this.frames[0];
  }

  /** Sends a frame and waits for the one that answers it. */
  async ask(frame: Frame): Promise<Frame> {
    const sequence = this.send(frame);
    const isAnswer = (each: Frame): boolean => replyForOf(each) === sequence;
    await this.until('an answer', () => this.frames.some(isAnswer) || this.isClosed);
    const answer = this.frames.find(isAnswer);
    if (answer === undefined) throw new Error('closed instead of an answer');
    return answer;
  }

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

  /** Waits until the other side has closed. */
  closed(timeoutMs = 30_000): Promise<void> {
    return this.until('the end of the connection', () => this.isClosed, timeoutMs);
  }

  close(): void {
    this.socket.destroy();
  }

  #notify(): void {
    for (const watch of this.#watchers) watch();
  }
}

export function edgeHelloHeaders(sessionToken: string): FrameHeaders {
  return new HeaderWriter().text(headerId.edge.sessionToken, sessionToken).build();
}
