/**
 * One stream of an HTTP/2 connection, as the socket of a client's connection: its request arrives as HTTP/1.1, and what is
 * written, which must be one HTTP/1.1 response, leaves as HTTP/2. So a request has one decision, one set of limits and one
 * record, whatever its client speaks. The two meet here (ADR 0118).
 */
import { constants, type ServerHttp2Stream } from 'node:http2';
import { BODY_CHUNKED, BODY_LENGTH, BODY_NONE, BodyDecoder, type BodySink } from '../http/body-decoder.ts';
import { chunkPieces } from '../http/chunk-pieces.ts';
import { bufferOf, HeadBuffer } from '../http/head-buffer.ts';
import { FieldLines } from '../http/head-decoder.ts';
import { readResponseHead, ResponseHead } from '../http/response-head-policy.ts';
import { trailerLines } from '../http/raw-lines.ts';
import { MAX_TRAILERS } from '../http/trailer-policy.ts';
import type { ClientSocket } from '../exchange/client-socket.ts';
import { streamHeaders, streamTrailers, type StreamRequest } from './stream-head-codec.ts';

/** The gateway's own lines come on top of those of the service. */
const MAX_HEAD_BYTES = 262_144;
const MAX_FIELDS = 1_024;
const HEAD = 0;
const BODY = 1;
const TUNNEL = 2;
const DONE = 3;

/** Scratch objects: valid during one call. */
const answerHead = new ResponseHead();
const trailerFields = new FieldLines();

export class StreamSocket implements ClientSocket, BodySink {
  readonly #stream: ServerHttp2Stream;
  readonly #onFault: (error: unknown) => void;
  #request: StreamRequest;
  readonly #heads = new HeadBuffer(MAX_HEAD_BYTES, MAX_HEAD_BYTES);
  #body = new BodyDecoder(BODY_NONE);
  #state = HEAD;
  #trailers = '';
  #onEnd: (() => void) | undefined;

  /** `onFault` reports why a response could not be sent; the stream is reset. */
  constructor(stream: ServerHttp2Stream, request: StreamRequest, onFault: (error: unknown) => void) {
    this.#stream = stream;
    this.#request = request;
    this.#onFault = onFault;
  }

  /** Calls `onBytes` with the request, as HTTP/1.1. */
  read(hasBody: boolean, onBytes: (bytes: Buffer) => void): void {
    const { head, isChunked } = this.#request;
    // It may be large, and would stay for as long as the stream.
    this.#request = { ...this.#request, head: '' };
    const stream = this.#stream;
    if (hasBody) {
      const send = (bytes: Buffer): void => {
        if (!stream.destroyed) onBytes(bytes);
      };
      stream.on('data', (chunk: Buffer) => {
        if (isChunked && this.#state !== TUNNEL) for (const piece of chunkPieces(chunk)) send(piece);
        else send(chunk);
      });
      stream.on('trailers', (_, __, raw) => (this.#trailers = trailerLines(raw)));
      stream.on('end', () => {
        if (isChunked) send(Buffer.from(`0\r\n${this.#trailers}\r\n`, 'latin1'));
        else if (this.#request.protocol !== '') this.#onEnd?.();
      });
    } else stream.resume();
    onBytes(Buffer.from(head, 'latin1'));
  }

  get destroyed(): boolean {
    return this.#stream.destroyed || this.#stream.closed;
  }

  /** The writable side of a HEAD request has ended from its start. */
  get writableEnded(): boolean {
    return this.#state === DONE || (this.#state === TUNNEL && this.#stream.writableEnded);
  }

  get writableLength(): number {
    return this.#stream.writableLength;
  }

  get writableNeedDrain(): boolean {
    return this.#stream.writableNeedDrain;
  }

  on(event: 'end' | 'drain' | 'error' | 'close', listener: () => void): void {
    if (event === 'end') this.#onEnd = listener;
    else if (event !== 'error') this.#stream.on(event, listener);
  }

  pause(): void {
    this.#stream.pause();
  }

  resume(): void {
    this.#stream.resume();
  }

  cork(): void {
    this.#stream.cork();
  }

  uncork(): void {
    this.#stream.uncork();
  }

  setKeepAlive(): void {}

  /** Never throws: the output of many connections is written in one callback, outside of what contains exceptions. */
  write(bytes: Uint8Array): boolean {
    this.#guarded(() => this.#write(bytes));
    return !this.#stream.writableNeedDrain;
  }

  /** The other end sees a reset unless its response is complete. */
  end(): void {
    if (this.#state === TUNNEL) this.#stream.end();
    else if (this.#state !== DONE) this.resetAndDestroy();
  }

  /** A request whose response is complete no longer needs the rest of its body. `close` would wait until the client reads. */
  destroy(): void {
    if (this.#state === DONE && this.#stream.writableFinished) this.#stream.close(constants.NGHTTP2_NO_ERROR);
    else this.resetAndDestroy();
  }

  /** Node's `close` ends the body before it resets the stream, and a response that broke off would look complete. */
  resetAndDestroy(): void {
    this.#stream.destroy(new Error('broken off'));
  }

  bodyRun(bytes: Uint8Array, start: number, end: number): void {
    this.#stream.write(start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end));
  }

  #write(bytes: Uint8Array): void {
    let rest: Uint8Array | undefined = bytes;
    while (rest !== undefined && this.#state === HEAD) rest = this.#readHead(rest);
    if (rest !== undefined && this.#state === TUNNEL) this.#stream.write(rest);
    else if (rest !== undefined && this.#state === BODY) this.#writeBody(rest);
  }

  #guarded(act: () => void): void {
    try {
      act();
    } catch (error) {
      this.#onFault(error);
      this.resetAndDestroy();
    }
  }

  /** Returns the bytes that follow the head; undefined: none, or the head is not complete. */
  #readHead(bytes: Uint8Array): Uint8Array | undefined {
    const heads = this.#heads;
    if (!heads.push(bufferOf(bytes))) return undefined;
    const problem = heads.refusal ?? readResponseHead(heads.text, MAX_FIELDS, answerHead);
    if (problem !== undefined) throw new Error(`the gateway’s own response cannot be read: ${problem}`);
    const { status, fields } = answerHead;
    const headers = streamHeaders(status, fields);
    if (status === 101) {
      delete headers['sec-websocket-accept'];
      this.#state = TUNNEL;
      this.#stream.respond({ ...headers, ':status': 200 });
    } else if (status < 200) this.#stream.additionalHeaders(headers);
    else this.#begin(headers);
    return heads.rest;
  }

  #begin(headers: ReturnType<typeof streamHeaders>): void {
    const { status, chunked, contentLength } = answerHead;
    // Node ends a 205 with its head (RFC 9110 §15.3.6).
    const isBodiless = this.#request.method === 'HEAD' || status === 204 || status === 205 || status === 304;
    if (status === 205) delete headers['content-length'];
    if (!isBodiless && chunked) this.#body = new BodyDecoder(BODY_CHUNKED);
    else if (!isBodiless) this.#body = new BodyDecoder(BODY_LENGTH, Math.max(0, contentLength));
    const hasTrailers = this.#body.mode === BODY_CHUNKED && this.#request.acceptsTrailers;
    this.#body.keepsTrailers = hasTrailers;
    this.#state = this.#body.done ? DONE : BODY;
    if (hasTrailers) this.#stream.once('wantTrailers', () => this.#guarded(() => this.#sendTrailers()));
    this.#stream.respond(headers, { endStream: this.#body.done, waitForTrailers: hasTrailers });
    if (this.#body.done) this.#stream.end();
  }

  #writeBody(bytes: Uint8Array): void {
    this.#body.decode(bytes, 0, this);
    if (this.#body.malformed) throw new Error('the gateway’s own response has malformed chunks');
    if (!this.#body.done) return;
    this.#state = DONE;
    this.#stream.end();
  }

  #sendTrailers(): void {
    const { trailers } = this.#body;
    const isRead = trailers !== '' && trailerFields.decode(`${trailers}\r\n`, 0, MAX_TRAILERS) === undefined;
    this.#stream.sendTrailers(isRead ? streamTrailers(trailerFields) : {});
  }
}
