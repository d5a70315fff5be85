/**
 * A small HTTP/1.1 client on bare sockets that looks at every byte: single requests, a checking load whose every
 * 1,000th answer is unique, downloads that are hashed. wrk makes the speed, this one makes the proof.
 */
import { createHash, randomUUID } from 'node:crypto';
import { connect, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';

const TIMEOUT_MS = 30_000;
const HEAD_END = Buffer.from('\r\n\r\n');

export interface CheckedAnswer {
  readonly status: number;
  readonly body: string;
}

/** How a client comes in, when not over plain HTTP and without credentials. */
export interface ClientEntrance {
  /** TLS, with the request's host as server name; the PEM that the certificate must chain to. */
  readonly ca?: string | undefined;
  /** Header fields of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

function requestText(host: string, path: string, { headers = {} }: ClientEntrance): string {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: */*\r\n${fields.join('')}\r\n`;
}

/** Making one costs more than a handshake. */
const contexts = new Map<string, SecureContext>();

function contextOf(ca: string): SecureContext {
  let context = contexts.get(ca);
  if (context === undefined) contexts.set(ca, (context = createSecureContext({ ca })));
  return context;
}

/** A connection that says `ready` when requests may be written. */
export function openClient(
  port: number,
  host: string,
  { ca }: ClientEntrance,
  ready: () => void,
  onread?: OnReadOpts,
): Socket {
  const options = { port, host: '127.0.0.1', onread };
  if (ca === undefined) return connect({ ...options, noDelay: true }, ready);
  const socket = connectTls({ ...options, secureContext: contextOf(ca), servername: host }, ready);
  return socket.setNoDelay(true);
}

/** One client connection: requests one after the other; answers framed by Content-Length or chunked. */
export class CheckConnection {
  readonly #socket: Socket;
  readonly #entrance: ClientEntrance;
  #received: Buffer = Buffer.alloc(0);
  #waiting: { resolve: (answer: CheckedAnswer) => void; reject: (error: Error) => void } | undefined;

  constructor(port: number, host: string, entrance: ClientEntrance = {}) {
    this.#entrance = entrance;
    this.#socket = openClient(port, host, entrance, () => {});
    this.#socket.setTimeout(TIMEOUT_MS, () => this.#socket.destroy(new Error('no answer in time')));
    this.#socket.on('data', (chunk: Buffer) => {
      this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
      this.#deliver();
    });
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#fail(new Error('connection closed before the answer was whole')));
  }

  request(host: string, path: string): Promise<CheckedAnswer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#socket.write(requestText(host, path, this.#entrance));
    });
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  close(): void {
    this.#waiting = undefined;
    this.#socket.destroy();
  }

  #fail(error: Error): void {
    this.#waiting?.reject(error);
    this.#waiting = undefined;
  }

  #deliver(): void {
    const end = this.#received.indexOf(HEAD_END);
    if (end < 0) return;
    const head = this.#received.subarray(0, end).toString('latin1');
    const rest = this.#received.subarray(end + 4);
    const framed = /\r\ntransfer-encoding: *chunked/i.test(head) ? chunkedBody(rest) : sizedBody(head, rest);
    if (framed === undefined) return;
    this.#received = rest.subarray(framed.used);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    waiting?.resolve({ status: Number(head.slice(9, 12)), body: framed.body.toString('utf8') });
  }
}

function sizedBody(head: string, rest: Buffer): { body: Buffer; used: number } | undefined {
  const size = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  return rest.length < size ? undefined : { body: rest.subarray(0, size), used: size };
}

function chunkedBody(rest: Buffer): { body: Buffer; used: number } | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = rest.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(rest.subarray(at, lineEnd).toString('latin1'), 16);
    const start = lineEnd + 2;
    if (rest.length < start + size + 2) return undefined;
    if (size === 0) return { body: Buffer.concat(parts), used: start + 2 };
    parts.push(rest.subarray(start, start + size));
    at = start + size + 2;
  }
}

/** One request on a connection of its own. */
export async function get(
  port: number,
  host: string,
  path: string,
  entrance: ClientEntrance = {},
): Promise<CheckedAnswer> {
  const connection = new CheckConnection(port, host, entrance);
  try {
    return await connection.request(host, path);
  } finally {
    connection.close();
  }
}

/**
 * `requests` over `connections` keep-alive connections; every 1,000th asks for a unique answer. Throws at the first
 * answer that is not 200 or not byte for byte what was asked for.
 */
export async function checkedLoad(
  port: number,
  host: string,
  options: { readonly requests: number; readonly connections: number; readonly smallBody: string },
  entrance: ClientEntrance = {},
): Promise<{ readonly requests: number; readonly unique: number }> {
  let sent = 0;
  let unique = 0;
  const worker = async (): Promise<void> => {
    const connection = new CheckConnection(port, host, entrance);
    try {
      while (sent < options.requests) {
        sent += 1;
        const isUnique = sent % 1_000 === 0;
        if (isUnique) unique += 1;
        const path = isUnique ? `/unique/${randomUUID()}` : '/small';
        const { status, body } = await connection.request(host, path);
        const expected = isUnique ? `you asked ${path}\n` : options.smallBody;
        if (status !== 200) throw new Error(`${path} was answered ${status}: ${body.slice(0, 200)}`);
        if (body !== expected)
          throw new Error(`${path} was answered with other bytes: ${body.slice(0, 200)}`);
      }
    } finally {
      connection.close();
    }
  };
  await Promise.all(Array.from({ length: options.connections }, worker));
  return { requests: sent, unique };
}

/**
 * Downloads, each compared by size and SHA-256 after its clock has stopped. Reads into one buffer that stays, because a
 * client that is slower than what it measures makes all targets look alike.
 */
export class Downloader {
  readonly #expected: { readonly bytes: number; readonly sha256: string };
  readonly #target: Buffer;
  readonly #window = Buffer.alloc(1024 * 1024);
  #socket: Socket | undefined;

  constructor(expected: { readonly bytes: number; readonly sha256: string }) {
    this.#expected = expected;
    this.#target = Buffer.alloc(expected.bytes, 1);
  }

  /** Bytes per second of one download over a connection of its own. */
  async run(port: number, host: string, path: string, entrance: ClientEntrance = {}): Promise<number> {
    const { bytes: size, sha256: wanted } = this.#expected;
    const startedMs = performance.now();
    await this.#receive(port, host, requestText(host, path, entrance), entrance);
    const seconds = (performance.now() - startedMs) / 1000;
    const sha256 = createHash('sha256').update(this.#target).digest('hex');
    if (sha256 !== wanted) throw new Error(`${path}: SHA-256 ${sha256}, not ${wanted}`);
    return size / seconds;
  }

  async #receive(port: number, host: string, request: string, entrance: ClientEntrance): Promise<void> {
    const size = this.#expected.bytes;
    let head: Buffer | undefined = Buffer.alloc(0);
    let filled = 0;
    await new Promise<void>((resolve, reject) => {
      const take = (bytes: Uint8Array): void => {
        if (filled + bytes.length > size) return reject(new Error('more bytes than announced'));
        this.#target.set(bytes, filled);
        filled += bytes.length;
        if (filled === size) resolve();
      };
      const begin = (bytes: Uint8Array): void => {
        head = Buffer.concat([head!, bytes]);
        const end = head.indexOf(HEAD_END);
        if (end < 0) return;
        const text = head.subarray(0, end).toString('latin1');
        const rest = head.subarray(end + 4);
        head = undefined;
        const announced = Number(/\r\ncontent-length: *(\d+)/i.exec(text)?.[1]);
        if (text.startsWith('HTTP/1.1 200 ') && announced === size) take(rest);
        else reject(new Error(`not the download: ${text}`));
      };
      const callback = (length: number, buffer: Uint8Array): boolean => {
        const bytes = buffer.subarray(0, length);
        if (head === undefined) take(bytes);
        else begin(bytes);
        return true;
      };
      const onread = { buffer: this.#window, callback };
      const socket = openClient(port, host, entrance, () => socket.write(request), onread);
      socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('the download stood still')));
      socket.on('error', reject);
      socket.on('end', () => reject(new Error(`closed after ${filled} of ${size} bytes`)));
      socket.on('close', () => reject(new Error(`closed after ${filled} of ${size} bytes`)));
      this.#socket = socket;
    }).finally(() => this.#socket?.destroy());
  }
}

/** Opens `count` connections, each answered once and then left idle; resolves to what closes them. */
export async function openIdle(
  port: number,
  host: string,
  count: number,
  entrance: ClientEntrance = {},
): Promise<() => void> {
  const connections: CheckConnection[] = [];
  for (let at = 0; at < count; at += 50) {
    const batch = Array.from(
      { length: Math.min(50, count - at) },
      () => new CheckConnection(port, host, entrance),
    );
    connections.push(...batch);
    const answers = await Promise.all(batch.map((connection) => connection.request(host, '/small')));
    const bad = answers.find(({ status }) => status !== 200);
    if (bad !== undefined) throw new Error(`an idle connection was answered ${bad.status}`);
  }
  return () => {
    for (const connection of connections) connection.close();
  };
}
