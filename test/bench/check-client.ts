/**
 * A small HTTP/1.1 client on bare sockets that looks at every byte: single requests, a checking load whose every
 * 1,000th answer is unique, downloads that are hashed. wrk makes the speed, this one makes the proof.
 */
import { createHash, randomUUID } from 'node:crypto';
import { connect, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext } from 'node:tls';
import { KeepAliveClient } from '../support/keep-alive-client.ts';
import { until } from '../support/child-process.ts';

const TIMEOUT_MS = 30_000;
const SERVED_DEADLINE_MS = 60_000;
const OPENED_AT_ONCE = 50;
const HEAD_END = Buffer.from('\r\n\r\n');

/** Where a client comes in, and how. */
export interface Door {
  readonly port: number;
  /** The host of requests, and the server name of TLS. */
  readonly host: string;
  /** TLS; the PEM that the certificate must chain to. Plain HTTP when absent. */
  readonly ca?: string | undefined;
  /** Header fields of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface CheckedAnswer {
  readonly status: number;
  readonly body: string;
}

function requestText({ host, headers = {} }: Door, path: string): string {
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
export function openClient({ port, host, ca }: Door, ready: () => void, onread?: OnReadOpts): Socket {
  const options = { port, host: '127.0.0.1', onread };
  if (ca === undefined) return connect({ ...options, noDelay: true }, ready);
  const socket = connectTls({ ...options, secureContext: contextOf(ca), servername: host }, ready);
  return socket.setNoDelay(true);
}

/** One client connection: requests one after the other. */
export class CheckConnection {
  readonly #door: Door;
  readonly #client: KeepAliveClient;

  constructor(door: Door) {
    this.#door = door;
    this.#client = new KeepAliveClient(openClient(door, () => {}));
  }

  async request(path: string): Promise<CheckedAnswer> {
    const { status, body } = await this.#client.ask(requestText(this.#door, path));
    return { status, body: body.toString('utf8') };
  }

  get isOpen(): boolean {
    return !this.#client.isClosed;
  }

  close(): void {
    this.#client.close();
  }
}

/** One request on a connection of its own. */
export async function get(door: Door, path: string): Promise<CheckedAnswer> {
  const connection = new CheckConnection(door);
  try {
    return await connection.request(path);
  } finally {
    connection.close();
  }
}

/** Waits until the door answers with that status; throws with what it answered instead. */
export async function untilAnswers(
  door: Door,
  { path = '/small', status = 200 }: { readonly path?: string; readonly status?: number } = {},
): Promise<void> {
  await until(`the answer ${status} of ${door.host}`, SERVED_DEADLINE_MS, async () => {
    const answer = await get(door, path);
    if (answer.status !== status) throw new Error(`${answer.status} ${answer.body.slice(0, 300)}`);
  });
}

/**
 * `requests` over `connections` keep-alive connections; every 1,000th asks for a unique answer. Throws at the first
 * answer that is not 200 or not byte for byte what was asked for.
 */
export async function checkedLoad(
  door: Door,
  options: { readonly requests: number; readonly connections: number; readonly smallBody: string },
): Promise<{ readonly requests: number; readonly unique: number }> {
  let sent = 0;
  let unique = 0;
  const worker = async (): Promise<void> => {
    const connection = new CheckConnection(door);
    try {
      while (sent < options.requests) {
        sent += 1;
        const isUnique = sent % 1_000 === 0;
        if (isUnique) unique += 1;
        const path = isUnique ? `/unique/${randomUUID()}` : '/small';
        const { status, body } = await connection.request(path);
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

  constructor(expected: { readonly bytes: number; readonly sha256: string }) {
    this.#expected = expected;
    this.#target = Buffer.alloc(expected.bytes, 1);
  }

  /** Bytes per second of one download over a connection of its own. */
  async run(door: Door, path: string): Promise<number> {
    const { bytes: size, sha256: wanted } = this.#expected;
    const startedMs = performance.now();
    await this.#receive(door, requestText(door, path));
    const seconds = (performance.now() - startedMs) / 1000;
    const sha256 = createHash('sha256').update(this.#target).digest('hex');
    if (sha256 !== wanted) throw new Error(`${path}: SHA-256 ${sha256}, not ${wanted}`);
    return size / seconds;
  }

  async #receive(door: Door, request: string): Promise<void> {
    const size = this.#expected.bytes;
    const { promise: received, resolve, reject } = Promise.withResolvers<void>();
    let head: Buffer | undefined = Buffer.alloc(0);
    let filled = 0;
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
    const socket = openClient(door, () => socket.write(request), { buffer: this.#window, callback });
    socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error('the download stood still')));
    socket.on('error', reject);
    const onEnd = (): void => reject(new Error(`closed after ${filled} of ${size} bytes`));
    socket.on('end', onEnd).on('close', onEnd);
    await received.finally(() => socket.destroy());
  }
}

/** Opens `count` connections, each answered once and then left idle; resolves to what closes them. */
export async function openIdle(door: Door, count: number): Promise<() => void> {
  const connections: CheckConnection[] = [];
  while (connections.length < count) {
    const length = Math.min(OPENED_AT_ONCE, count - connections.length);
    const batch = Array.from({ length }, () => new CheckConnection(door));
    connections.push(...batch);
    const answers = await Promise.all(batch.map((connection) => connection.request('/small')));
    const bad = answers.find(({ status }) => status !== 200);
    if (bad !== undefined) throw new Error(`an idle connection was answered ${bad.status}`);
  }
  return () => {
    for (const connection of connections) connection.close();
  };
}
