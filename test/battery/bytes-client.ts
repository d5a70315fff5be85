/**
 * A client that sends exactly the given bytes, plain or over TLS, from any loopback address, and keeps exactly the
 * bytes that come back. It reads only while it is not paused, so that it can be a slow reader as well.
 */
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { within } from '../support/deadline.ts';
import type { ClientTarget } from '../support/keep-alive-client.ts';

const DEADLINE_MS = 30_000;
const MAX_KEPT = 8_388_608;

export class BytesClient {
  readonly socket: Socket;
  /** Latin-1. */
  received = '';
  /** The other side has not ended yet. */
  isOpen = true;
  isClosed = false;
  wasReset = false;
  readonly #watchers = new Set<() => void>();

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => {
      if (this.received.length < MAX_KEPT) this.received += bytes.toString('latin1');
      this.#notify();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.wasReset ||= error.code === 'ECONNRESET' || error.code === 'EPIPE';
    });
    socket.on('end', () => {
      this.isOpen = false;
      this.#notify();
    });
    socket.on('close', () => {
      this.isOpen = false;
      this.isClosed = true;
      this.#notify();
    });
  }

  /** Rejects when the connection or its handshake is refused. */
  static async open(target: ClientTarget): Promise<BytesClient> {
    const { port, tls, localAddress } = target;
    const where = {
      port,
      host: '127.0.0.1',
      allowHalfOpen: true,
      localAddress,
    };
    const socket = tls === undefined ? connect(where) : openTls(where, tls);
    socket.setNoDelay(true);
    const opened = Promise.withResolvers<void>();
    socket.once(tls === undefined ? 'connect' : 'secureConnect', () => opened.resolve());
    socket.once('error', opened.reject);
    try {
      await within(`a connection to port ${port}`, opened.promise);
    } catch (error) {
      socket.destroy();
      throw error;
    }
    return new BytesClient(socket);
  }

  /** Latin-1. */
  send(text: string): void {
    this.socket.write(text, 'latin1');
  }

  /** Resolves with the received data, once it passes `test` or the other side has ended. */
  async until(what: string, test: (received: string) => boolean, timeoutMs = DEADLINE_MS): Promise<string> {
    const isOver = (): boolean => !this.isOpen || test(this.received);
    if (!isOver()) {
      const seen = Promise.withResolvers<void>();
      const watch = (): void => {
        if (isOver()) seen.resolve();
      };
      this.#watchers.add(watch);
      try {
        await within(what, seen.promise, timeoutMs);
      } finally {
        this.#watchers.delete(watch);
      }
    }
    return this.received;
  }

  /** Everything, once the other side has ended. */
  ended(timeoutMs = DEADLINE_MS): Promise<string> {
    return this.until('the end of the connection', () => false, timeoutMs);
  }

  close(): void {
    this.socket.destroy();
  }

  #notify(): void {
    for (const watch of this.#watchers) watch();
  }
}

function openTls(where: TcpNetConnectOpts, { ca, servername }: NonNullable<ClientTarget['tls']>): TLSSocket {
  const options: ConnectionOptions = {
    ...where,
    ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
    servername,
    ALPNProtocols: ['http/1.1'],
    // The certificate is not checked here: most rows test names, and one row tests certificates.
    checkServerIdentity: () => undefined,
  };
  return connectTls(options);
}

/** One connection, these bytes, everything that came back. */
export async function askBytes(target: ClientTarget, text: string, timeoutMs?: number): Promise<string> {
  const client = await BytesClient.open(target);
  try {
    client.send(text);
    return await client.ended(timeoutMs);
  } finally {
    client.close();
  }
}

export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? -1);
}
