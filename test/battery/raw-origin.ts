/**
 * A private service that keeps every byte it is sent and reads requests as strictly as it can: the gateway's requests
 * have one framing, so any bytes left over are a finding. It answers as the row sets it.
 */
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export interface SeenRequest {
  readonly method: string;
  readonly target: string;
  /** Name and value as they came, in their order. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Latin-1. */
  readonly body: string;
  /** Lines after the last chunk. */
  readonly trailers: readonly string[];
  /** Its bytes, Latin-1. */
  readonly raw: string;
}

export type AnswerScript = (request: SeenRequest, socket: Socket) => void;

export const READY_PATH = '/battery-ready';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nSERVED';

export class RawOrigin {
  readonly requests: SeenRequest[] = [];
  /** Bytes that are no request; also when a head was malformed. */
  readonly strays: string[] = [];
  /** Requests that began, whether or not they became whole. */
  begun = 0;
  /** Where the last of them began. */
  begunOn: Socket | undefined;
  answer: AnswerScript = (_request, socket) => void socket.write(OK);
  readonly sockets = new Set<Socket>();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket: Socket) => this.#onConnection(socket));
  }

  static async start(): Promise<RawOrigin> {
    const server = createServer({ allowHalfOpen: true, noDelay: true });
    const origin = new RawOrigin(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return origin;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** `METHOD target` of each whole request. */
  get seen(): string[] {
    return this.requests.map(({ method, target }) => `${method} ${target}`);
  }

  forget(): void {
    this.requests.length = 0;
    this.strays.length = 0;
    this.begun = 0;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  #onConnection(socket: Socket): void {
    this.sockets.add(socket);
    let pending = '';
    let hasBegun = false;
    socket.on('error', () => {});
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('end', () => socket.end());
    socket.on('data', (bytes: Buffer) => {
      pending += bytes.toString('latin1');
      for (;;) {
        if (pending !== '' && !hasBegun) {
          hasBegun = true;
          if (!pending.startsWith(`GET ${READY_PATH} `)) {
            this.begun += 1;
            this.begunOn = socket;
          }
        }
        const request = readRequest(pending);
        if (request === undefined) return;
        if (typeof request === 'string') {
          this.strays.push(request);
          socket.destroy();
          return;
        }
        pending = pending.slice(request.raw.length);
        hasBegun = false;
        if (request.target === READY_PATH) socket.write(OK);
        else {
          this.requests.push(request);
          this.answer(request, socket);
        }
      }
    });
  }
}

/** Undefined: not whole yet. Text: what is wrong. */
export function readRequest(text: string): SeenRequest | string | undefined {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [line = '', ...lines] = text.slice(0, headEnd).split('\r\n');
  const [, method = '', target = ''] = /^([!-~]+) ([!-~]+) HTTP\/1\.1$/.exec(line) ?? [];
  if (method === '') return `request line: ${JSON.stringify(line)}`;
  const fields: [string, string][] = [];
  for (const field of lines) {
    const parts = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):[ \t]*([^\r\n\0]*?)[ \t]*$/.exec(field);
    if (parts === null) return `header line: ${JSON.stringify(field)}`;
    fields.push([parts[1]!, parts[2]!]);
  }
  const valuesOf = (name: string): string[] =>
    fields.filter(([other]) => other.toLowerCase() === name).map(([, value]) => value);
  const [lengths, codings] = [valuesOf('content-length'), valuesOf('transfer-encoding')];
  if (lengths.length + codings.length > 1) return `two framings: ${JSON.stringify([lengths, codings])}`;
  const bodyStart = headEnd + 4;
  const whole = (end: number, body: string, trailers: readonly string[]): SeenRequest => ({
    method,
    target,
    fields,
    body,
    trailers,
    raw: text.slice(0, end),
  });
  if (codings.length === 1) {
    if (codings[0] !== 'chunked') return `coding: ${codings[0]}`;
    return readChunks(text, bodyStart, whole);
  }
  if (lengths.length === 1 && !/^\d{1,15}$/.test(lengths[0]!)) return `length: ${lengths[0]}`;
  const end = bodyStart + Number(lengths[0] ?? 0);
  return text.length < end ? undefined : whole(end, text.slice(bodyStart, end), []);
}

function readChunks(
  text: string,
  start: number,
  whole: (end: number, body: string, trailers: readonly string[]) => SeenRequest,
): SeenRequest | string | undefined {
  let at = start;
  let body = '';
  for (;;) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = text.slice(at, lineEnd);
    if (!/^[0-9A-Fa-f]{1,12}$/.test(size)) return `chunk size: ${JSON.stringify(size)}`;
    at = lineEnd + 2;
    const bytes = Number.parseInt(size, 16);
    if (bytes === 0) break;
    if (text.length < at + bytes + 2) return undefined;
    body += text.slice(at, at + bytes);
    if (text.slice(at + bytes, at + bytes + 2) !== '\r\n') return 'chunk data without its end';
    at += bytes + 2;
  }
  const trailers: string[] = [];
  for (;;) {
    const lineEnd = text.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const line = text.slice(at, lineEnd);
    at = lineEnd + 2;
    if (line === '') return whole(at, body, trailers);
    trailers.push(line);
  }
}
