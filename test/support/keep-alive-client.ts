/** An HTTP/1.1 client for loads: one request after the other over one connection, answers framed by Content-Length or chunked. */
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { within } from './deadline.ts';

export interface ClientTarget {
  readonly port: number;
  /** Over TLS when there is one; the name may be empty: none is sent then. Without an authority nothing is checked. */
  readonly tls?: { readonly ca: string | undefined; readonly servername: string };
  /** Where it comes from; 127.0.0.1 when absent. */
  readonly localAddress?: string;
}

export interface WholeAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: Buffer;
}

const NOTHING = Buffer.alloc(0);

export class KeepAliveClient {
  readonly socket: Socket;
  isClosed = false;
  #pending: Buffer = NOTHING;
  #waiting: PromiseWithResolvers<WholeAnswer> | undefined;

  /** Requests may be sent before the socket has connected. */
  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (bytes: Buffer) => {
      this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
      this.#look();
    });
    socket.on('error', (error) => this.#waiting?.reject(error));
    socket.on('close', () => {
      this.isClosed = true;
      this.#waiting?.reject(new Error('the connection closed before the answer was whole'));
      this.#waiting = undefined;
    });
  }

  static async open(target: ClientTarget, timeoutMs = 30_000): Promise<KeepAliveClient> {
    const where = {
      port: target.port,
      host: '127.0.0.1',
      localAddress: target.localAddress,
    };
    const socket =
      target.tls === undefined
        ? connect(where)
        : connectTls({ ...where, ...target.tls, ALPNProtocols: ['http/1.1'] });
    socket.setNoDelay(true);
    const opened = Promise.withResolvers<void>();
    socket.once(target.tls === undefined ? 'connect' : 'secureConnect', () => opened.resolve());
    socket.once('error', opened.reject);
    socket.once('close', () => opened.reject(new Error('closed while connecting')));
    try {
      await within('a connection', opened.promise, timeoutMs);
    } catch (error) {
      socket.destroy();
      throw error;
    }
    return new KeepAliveClient(socket);
  }

  /** Rejects when the connection ends first. One request at a time. */
  async ask(request: string, body?: Uint8Array, timeoutMs = 30_000): Promise<WholeAnswer> {
    if (this.isClosed) throw new Error('the connection is closed');
    this.#waiting = Promise.withResolvers();
    const { promise } = this.#waiting;
    this.socket.cork();
    this.socket.write(request, 'latin1');
    if (body !== undefined) this.socket.write(body);
    this.socket.uncork();
    return within('an answer', promise, timeoutMs);
  }

  /** Leaves the socket to others, after an upgrade. Throws if bytes came after the answer. */
  release(): void {
    if (this.#pending.length > 0) throw new Error('bytes came after the answer');
    this.socket.removeAllListeners('data');
  }

  close(): void {
    this.socket.destroy();
  }

  #look(): void {
    if (this.#waiting === undefined) return;
    const answer = readAnswer(this.#pending);
    if (answer === undefined) return;
    this.#pending = this.#pending.subarray(answer.end);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting.resolve(answer);
  }
}

function readAnswer(bytes: Buffer): (WholeAnswer & { readonly end: number }) | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = bytes.toString('latin1', 0, headEnd + 2);
  const status = Number(head.slice(9, 12));
  const start = headEnd + 4;
  if (!/\r\ntransfer-encoding: chunked\r\n/i.test(head)) {
    const end = start + Number(/\r\ncontent-length: (\d+)\r\n/i.exec(head)?.[1] ?? 0);
    return bytes.length < end ? undefined : { status, head, body: bytes.subarray(start, end), end };
  }
  const pieces: Buffer[] = [];
  for (let at = start; ;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    at = lineEnd + 2;
    if (bytes.length < at + size + 2) return undefined;
    if (size === 0) return { status, head, body: Buffer.concat(pieces), end: at + 2 };
    pieces.push(bytes.subarray(at, at + size));
    at += size + 2;
  }
}

/** The value that 99 of 100 do not exceed. */
export function p99(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * 0.99) - 1)] ?? Number.NaN;
}
