/** A service that gives back what it reads, and an exchange with it whose bytes are compared by their hashes. */
import { createHash } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { until, within } from './deadline.ts';

const PIECE = Buffer.alloc(64 * 1024, 'echo-service.');
const TRANSFER_MS = 120_000;
const ECHO_MS = 30_000;

/** On 127.0.0.1 at a free port; ends when the other side has ended. */
export async function startEcho(): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

export interface EchoDigests {
  /** SHA-256, hex. */
  readonly sent: string;
  readonly received: string;
}

/** Sends `bytes` and reads them back. `during` runs when the first are on their way, before the rest follows. */
export async function exchange(
  port: number,
  bytes: number,
  during?: () => Promise<void>,
): Promise<EchoDigests> {
  const sent = createHash('sha256');
  const received = createHash('sha256');
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let left = bytes;
  // OpenZiti's proxy listener does not pass the end on: what counts is that all bytes came.
  const complete = new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', () => reject(new Error(`closed with ${left} bytes missing`)));
    socket.on('data', (chunk: Buffer) => {
      received.update(chunk);
      left -= chunk.length;
      if (left <= 0) resolve();
    });
  });
  const send = async (): Promise<void> => {
    for (let at = 0; at < bytes; at += PIECE.length) {
      const piece = Buffer.from(PIECE.subarray(0, Math.min(bytes - at, PIECE.length)));
      piece.writeUInt32LE(at, 0);
      sent.update(piece);
      if (!socket.write(piece)) await new Promise((resolve) => socket.once('drain', resolve));
      if (at === 0) await during?.();
    }
  };
  try {
    await within('all bytes back', Promise.all([send(), complete]), TRANSFER_MS);
  } finally {
    socket.destroy();
  }
  return { sent: sent.digest('hex'), received: received.digest('hex') };
}

/** A connection to the service that stays. */
export class EchoSocket {
  readonly #socket: Socket;
  #received = '';
  #error: Error | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('utf8');
    socket.on('data', (text) => (this.#received += String(text)));
    socket.on('error', (error) => (this.#error = error));
    socket.on('close', () => (this.#error ??= new Error('closed')));
  }

  static async open(port: number): Promise<EchoSocket> {
    const socket = connect({ port, host: '127.0.0.1' });
    const echoing = new EchoSocket(socket);
    await within('a connection', new Promise((resolve) => socket.once('connect', resolve)));
    return echoing;
  }

  async echo(text: string): Promise<void> {
    this.#received = '';
    this.#socket.write(text);
    await until(
      `the echo of “${text}”`,
      () => {
        if (this.#error !== undefined) return `error: ${this.#error.message}`;
        return this.#received;
      },
      (received) => received === text,
      ECHO_MS,
    );
  }

  get isClosed(): boolean {
    return this.#error !== undefined;
  }

  close(): void {
    this.#socket.destroy();
  }
}
