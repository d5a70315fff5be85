/**
 * One stream of a session with a service of HTTP/2, as the circuit of one request: what the gateway writes, which must be one
 * HTTP/1.1 request, leaves as HTTP/2, and the response arrives as HTTP/1.1. So a request is served by the same code, whatever
 * its service speaks. ADR 0121.
 */
import { createHash } from 'node:crypto';
import type { ClientHttp2Stream } from 'node:http2';
import { addAbortSignal } from 'node:stream';
import { messageOf } from '#base';
import { CircuitError, type Circuit } from '#sdk';
import { BODY_CHUNKED, BODY_LENGTH, BODY_NONE, BodyDecoder, type BodySink } from '../http/body-decoder.ts';
import { grpcKindOf } from '../http/grpc-policy.ts';
import { bufferOf, HeadBuffer } from '../http/head-buffer.ts';
import { FieldLines } from '../http/head-decoder.ts';
import { headerValue } from '../http/header-name.ts';
import { chunkPieces } from '../http/chunk-pieces.ts';
import { trailerLines } from '../http/raw-lines.ts';
import { readRequestHead, RequestHead } from '../http/request-head-policy.ts';
import { MAX_TRAILERS } from '../http/trailer-policy.ts';
import { serviceAnswer, serviceRequest, serviceUpgrade } from './service-head-codec.ts';

/** The gateway's own lines come on top of those of the client. */
const MAX_HEAD_BYTES = 1_048_576;
const MAX_FIELDS = 2_048;
const END_STREAM = 1;
/** RFC 6455 §1.3. */
const SOCKET_GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

const HEAD = 0;
const BODY = 1;
const TUNNEL = 2;
/** The request is complete. */
const SENT = 3;

const ABORTED = AbortSignal.abort();
/** Scratch objects: valid during one call. */
const requestHead = new RequestHead();
const trailerFields = new FieldLines();

/** A stream without a complete response. */
export interface EndedStream {
  /** RFC 9113 §7. */
  readonly code: number;
  readonly id: number | undefined;
  /** The error that Node reported, or ''. */
  readonly cause: string;
}

/** What a stream needs of its session. */
export interface StreamHost {
  readonly id: string;
  readonly scheme: 'http' | 'https';
  readonly heard: number | undefined;
  /** Whether the service accepts extended CONNECT (RFC 8441). */
  readonly acceptsTunnels: boolean;
  request(headers: string[], options: { endStream: boolean; waitForTrailers: boolean }): ClientHttp2Stream;
  /** Why a stream ended, and whether the service surely did nothing with it. */
  failureOf(ended: EndedStream): { readonly error: CircuitError; readonly isUnprocessed: boolean };
  streamOver(): void;
}

export class ServiceStream implements Circuit, BodySink {
  onData: Circuit['onData'] = () => {};
  onEnd: Circuit['onEnd'] = () => {};
  onDrain: Circuit['onDrain'] = () => {};
  onClose: Circuit['onClose'] = () => {};
  isDelivered: boolean | undefined;
  readonly #host: StreamHost;
  readonly #heads = new HeadBuffer(MAX_HEAD_BYTES, MAX_HEAD_BYTES);
  #stream: ClientHttp2Stream | undefined;
  #state = HEAD;
  #body = new BodyDecoder(BODY_NONE);
  /** Facts about the request that decide about its response. */
  #method = '';
  #upgrade = '';
  #accept = '';
  #isChunked = false;
  #isTunnel = false;
  #trailers = '';
  #cause = '';
  /** Whether the response is complete. */
  #isAnswered = false;
  #isOver = false;

  constructor(host: StreamHost) {
    this.#host = host;
  }

  get id(): string {
    return this.#host.id;
  }

  get heard(): number | undefined {
    return this.#host.heard;
  }

  write(view: Uint8Array): boolean {
    if (this.#isOver) return true;
    let rest: Uint8Array | undefined = view;
    if (this.#state === HEAD) rest = this.#readHead(view);
    if (rest !== undefined && this.#state === BODY) this.#writeBody(rest);
    else if (rest !== undefined && this.#state === TUNNEL) this.#stream?.write(rest);
    return this.#stream?.writableNeedDrain !== true;
  }

  writeLent(view: Uint8Array): boolean {
    return this.write(Uint8Array.from(view));
  }

  writeMessage(): never {
    throw new Error('a stream of HTTP/2 carries no datagrams');
  }

  /** A request ends with its body. */
  end(): void {
    if (this.#stream === undefined) this.#over();
    else if (this.#state === TUNNEL) this.#stream.end();
  }

  /** Resets the stream with CANCEL. `close` of Node would end its body first, so that a broken request looked complete. */
  destroy(): void {
    const stream = this.#stream;
    this.#over();
    if (stream !== undefined && !stream.destroyed) addAbortSignal(ABORTED, stream);
  }

  pause(): void {
    this.#stream?.pause();
  }

  resume(): void {
    this.#stream?.resume();
  }

  bodyRun(bytes: Uint8Array, start: number, end: number): void {
    this.#stream?.write(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end));
  }

  /** Returns the bytes that follow the head; undefined: none, or the head is not complete. */
  #readHead(bytes: Uint8Array): Uint8Array | undefined {
    const heads = this.#heads;
    if (!heads.push(bufferOf(bytes))) return undefined;
    const problem = heads.refusal ?? readRequestHead(heads.text, MAX_FIELDS, requestHead);
    const { rest } = heads;
    heads.clear();
    try {
      if (problem !== undefined) throw new Error(`the gateway’s own request cannot be read: ${problem}`);
      this.#open(requestHead);
    } catch (error) {
      this.#fail(error);
    }
    return rest;
  }

  #open(head: RequestHead): void {
    const { chunked, contentLength, fields, hasBody, method, upgrade } = head;
    this.#method = method;
    this.#upgrade = upgrade;
    if (upgrade !== '' && !this.#host.acceptsTunnels) {
      this.#fail(new CircuitError('service-refused', 'service', NO_TUNNELS));
      return;
    }
    if (upgrade.toLowerCase() === 'websocket') {
      const key = headerValue(fields, 'sec-websocket-key');
      this.#accept = createHash('sha1')
        .update(key + SOCKET_GUID)
        .digest('base64');
    }
    if (chunked) this.#body = new BodyDecoder(BODY_CHUNKED);
    else if (hasBody) this.#body = new BodyDecoder(BODY_LENGTH, contentLength);
    this.#body.keepsTrailers = chunked;
    // No call of gRPC has trailers in its request, and waiting for them costs an event.
    const waitForTrailers = chunked && grpcKindOf(head) === undefined;
    const endStream = upgrade === '' && !hasBody;
    this.#state = endStream ? SENT : BODY;
    const stream = this.#host.request(serviceRequest(head, this.#host.scheme), {
      endStream,
      waitForTrailers,
    });
    this.#stream = stream;
    this.#listen(stream);
    if (waitForTrailers) stream.once('wantTrailers', () => this.#guarded(() => this.#sendTrailers(stream)));
  }

  #listen(stream: ClientHttp2Stream): void {
    stream.on('headers', (_headers, _flags, raw) => this.#guarded(() => this.#onInterim(raw)));
    stream.on('response', (_headers, flags, raw) => {
      this.#guarded(() => this.#onAnswer(flags, raw));
      // Node reports heads later than it has read them: earlier, data would come first.
      stream.on('data', (chunk: Buffer) => this.#guarded(() => this.#onBody(chunk)));
    });
    stream.on('trailers', (_headers, _flags, raw) => (this.#trailers = trailerLines(raw)));
    stream.on('end', () => this.#guarded(() => this.#onStreamEnd()));
    stream.on('drain', () => this.#guarded(() => this.onDrain()));
    stream.on('error', (error) => (this.#cause = messageOf(error)));
    stream.on('close', () => this.#guarded(() => this.#onStreamClose(stream)));
  }

  #writeBody(bytes: Uint8Array): void {
    this.#body.decode(bytes, 0, this);
    if (this.#body.malformed) throw new Error('the gateway’s own request has malformed chunks');
    if (!this.#body.done) return;
    this.#state = SENT;
    this.#stream?.end();
  }

  #sendTrailers(stream: ClientHttp2Stream): void {
    const { trailers } = this.#body;
    const isRead = trailers !== '' && trailerFields.decode(`${trailers}\r\n`, 0, MAX_TRAILERS) === undefined;
    const sent: Record<string, string> = Object.create(null);
    for (let i = 0; isRead && i < trailerFields.count; i += 1)
      sent[trailerFields.name(i).toLowerCase()] = trailerFields.value(i);
    stream.sendTrailers(sent);
  }

  #onInterim(raw: readonly string[]): void {
    if (this.#isOver) return;
    const head = serviceAnswer(raw, { isOver: false, isBodiless: false });
    if (head === undefined || head.status >= 200) this.#malformed();
    else this.onData(Buffer.from(head.text, 'latin1'));
  }

  #onAnswer(flags: number, raw: readonly string[]): void {
    if (this.#isOver) return;
    const isOver = (flags & END_STREAM) !== 0;
    if (this.#upgrade !== '' && !isOver && isSuccess(raw)) {
      const text = serviceUpgrade(raw, this.#upgrade, this.#accept);
      if (text === undefined) return this.#malformed();
      this.#isTunnel = true;
      this.#state = TUNNEL;
      this.onData(Buffer.from(text, 'latin1'));
      return;
    }
    const head = serviceAnswer(raw, { isOver, isBodiless: this.#method === 'HEAD' });
    if (head === undefined) return this.#malformed();
    this.#isChunked = head.isChunked;
    // With its head, because the response is over for its reader once the last byte is there.
    this.#isAnswered = isOver;
    this.onData(Buffer.from(head.text, 'latin1'));
  }

  #onBody(chunk: Buffer): void {
    if (this.#isOver || chunk.length === 0) return;
    if (!this.#isChunked) {
      this.onData(chunk);
      return;
    }
    for (const piece of chunkPieces(chunk)) if (!this.#isOver) this.onData(piece);
  }

  #onStreamEnd(): void {
    // A reset ends the readable side, too. One without an error follows a complete response (RFC 9113 §8.1).
    if (this.#isOver || this.#stream?.rstCode !== 0) return;
    this.#isAnswered = true;
    if (this.#isChunked) this.onData(Buffer.from(`0\r\n${this.#trailers}\r\n`, 'latin1'));
    if (!this.#isOver) this.onEnd();
  }

  #onStreamClose({ rstCode, id }: ClientHttp2Stream): void {
    if (this.#isOver) return;
    if (this.#isAnswered || (this.#isTunnel && rstCode === 0)) {
      this.#close();
      return;
    }
    const ended = { code: rstCode, id, cause: this.#cause };
    const { error, isUnprocessed } = this.#host.failureOf(ended);
    this.isDelivered = !isUnprocessed;
    this.#close(error);
  }

  #malformed(): void {
    const stream = this.#stream;
    this.#close(
      new CircuitError('circuit-closed', 'service', 'the service sent a head that no response can have'),
    );
    if (stream !== undefined && !stream.destroyed) addAbortSignal(ABORTED, stream);
  }

  #close(error?: CircuitError): void {
    if (this.#isOver) return;
    this.#over();
    this.onClose(error);
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#host.streamOver();
  }

  /** The circuit closes later, because its writer expects that it stays open during the call. */
  #fail(error: unknown): void {
    const failure = error instanceof CircuitError ? error : faultOf(error);
    this.#state = SENT;
    queueMicrotask(() => this.#guarded(() => this.#close(failure)));
  }

  /** Listeners of one stream must not end the process, nor the session. */
  #guarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.destroy();
      this.onClose(faultOf(error));
    }
  }
}

function faultOf(error: unknown): CircuitError {
  return new CircuitError('circuit-closed', 'gateway', messageOf(error), { cause: error });
}

const NO_TUNNELS =
  'the service speaks HTTP/2 without WebSockets (RFC 8441): give the share a target that starts with http:// or https://';

function isSuccess(raw: readonly string[]): boolean {
  const at = raw.indexOf(':status');
  return at >= 0 && raw[at + 1]?.length === 3 && raw[at + 1]!.startsWith('2');
}
