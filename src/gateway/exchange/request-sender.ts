/**
 * The request's half of an exchange: its rewritten head and its re-framed body on their way to a circuit. Until
 * there is a circuit, it collects what arrives. A request without a body can be sent once more.
 */
import { BODY_CHUNKED, BODY_LENGTH, BODY_NONE, BodyDecoder, type BodySink } from '../http/body-decoder.ts';
import { OutputBatch } from './output-batch.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import type { ExchangeTap } from './request-record.ts';
import { passingTrailers } from '../http/trailer-policy.ts';
import type { GatewayRoute, Upstream } from '../circuits/upstream.ts';

const NOTHING: readonly Uint8Array[] = [];

/** A set would make each method, which is a part of a head, an internal string of the engine first. */
function isIdempotent(method: string): boolean {
  switch (method) {
    case 'GET':
    case 'HEAD':
    case 'OPTIONS':
    case 'PUT':
    case 'DELETE':
      return true;
    default:
      return false;
  }
}

/** The most bytes that are kept of a request to a service of HTTP/2, which reports whether it has begun with the request. */
const MAX_KEPT_BYTES = 65_536;

export class RequestSender implements BodySink {
  readonly body: BodyDecoder;
  /** Whether the request is idempotent and has no body, so that it may be repeated on another circuit. */
  readonly isRepeatable: boolean;
  /** Whether the circuit accepts no more data for now. */
  isBlocked = false;
  readonly #chunked: boolean;
  readonly #batch = new OutputBatch();
  readonly #route: GatewayRoute;
  readonly #tap: ExchangeTap | undefined;
  #upstream: Upstream | undefined;
  /** The bytes that were sent, for another circuit; undefined: they are not kept. */
  #kept: Uint8Array[] | undefined;
  #keptBytes = 0;

  constructor(head: RequestHead, headText: string, route: GatewayRoute, tap?: ExchangeTap) {
    this.#route = route;
    this.#tap = tap;
    this.#chunked = head.chunked;
    if (head.chunked) this.body = new BodyDecoder(BODY_CHUNKED);
    else if (head.contentLength > 0) this.body = new BodyDecoder(BODY_LENGTH, head.contentLength);
    else this.body = new BodyDecoder(BODY_NONE);
    this.body.keepsTrailers = head.chunked;
    this.isRepeatable = this.body.done && head.upgrade === '' && isIdempotent(head.method);
    if (this.isRepeatable || route.http2 !== undefined) this.#kept = [];
    this.#batch.text(headText);
  }

  /** Takes the next bytes of the client and returns those that follow the body. Check `body.malformed` afterwards. */
  take(bytes: Buffer): Buffer | undefined {
    if (this.body.done) return bytes;
    const used = this.body.decode(bytes, 0, this);
    if (this.body.malformed) return undefined;
    if (this.body.done && this.#chunked) {
      const trailers = passingTrailers(this.body.trailers, this.#route.heads?.requestRules);
      this.#batch.text(`0\r\n${trailers}\r\n`);
    }
    if (this.#upstream !== undefined) this.#flush(this.#upstream, this.#batch.take());
    return used === bytes.length ? undefined : bytes.subarray(used);
  }

  bodyRun(bytes: Uint8Array, start: number, end: number): void {
    const view = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
    this.#route.slot.traffic.received(end - start);
    this.#tap?.requestBytes(view);
    if (this.#chunked) this.#batch.chunk(view);
    else this.#batch.view(view);
  }

  /** Sends what was collected; later data is sent at once. */
  attach(upstream: Upstream): void {
    this.#upstream = upstream;
    this.isBlocked = false;
    this.#write(upstream, this.#kept ?? NOTHING);
    this.#flush(upstream, this.#batch.take());
  }

  /** Collects again until there is another circuit: what was sent to the last one must come before what follows. */
  detach(): void {
    this.#upstream = undefined;
  }

  /** Whether everything that was sent could be sent again. */
  get isKept(): boolean {
    return this.#kept !== undefined;
  }

  /** The response has begun, so that nothing is sent again. */
  forget(): void {
    this.#kept = undefined;
  }

  #flush(upstream: Upstream, buffers: readonly Uint8Array[]): void {
    for (const { length } of buffers) this.#keptBytes += length;
    if (!this.isRepeatable && this.#keptBytes > MAX_KEPT_BYTES) this.#kept = undefined;
    this.#kept?.push(...buffers);
    this.#write(upstream, buffers);
  }

  #write(upstream: Upstream, buffers: readonly Uint8Array[]): void {
    for (let i = 0; i < buffers.length; i += 1) {
      if (!upstream.circuit.write(buffers[i]!)) this.isBlocked = true;
    }
  }
}
