/**
 * The response's half of an exchange: its rewritten head and its re-framed body, compressed if its share and its client agree, on
 * their way to the client.
 */
import type { ContentCoding } from '#domain/upstream';
import type { Failure } from '../answers/failure-table.ts';
import { addedLines } from '../answers/policy-headers.ts';
import { framingLines, isChunkedFor } from '../http/answer-framing.ts';
import { BODY_NONE, BodyDecoder, type BodySink } from '../http/body-decoder.ts';
import { compressingOf, type Compressing } from '../http/compression-policy.ts';
import { encodeClientHead } from '../http/forward-head-codec.ts';
import { grpcKindOf, grpcStatusLines } from '../http/grpc-policy.ts';
import { headerValue } from '../http/header-name.ts';
import type { RequestHead } from '../http/request-head-policy.ts';
import { answerBody, type ResponseHead } from '../http/response-head-policy.ts';
import { announcingLine, passingTrailers } from '../http/trailer-policy.ts';
import type { UpstreamOwner } from '../circuits/upstream.ts';
import { BodyEncoder, type EncoderOwner } from './body-encoder.ts';
import type { RequestRecord } from './request-record.ts';
import type { SocketWriter } from './socket-writer.ts';

/** What a response is until its head has arrived. */
const NOTHING = new BodyDecoder(BODY_NONE);

export interface AnswerOwner extends Pick<UpstreamOwner, 'upstreamFault'> {
  /** More data may be taken, unless `isFull` is set for another reason. */
  answerDrained(): void;
  /** The whole response was sent, after `finish`. */
  answerSent(): void;
}

export class AnswerSender implements BodySink, EncoderOwner {
  body = NOTHING;
  readonly #owner: AnswerOwner;
  readonly #writer: SocketWriter;
  readonly #record: RequestRecord;
  readonly #acceptsTrailers: boolean;
  readonly #isCall: boolean;
  /** `Accept-Encoding`, read only if the share has codings. */
  readonly #accepted: string;
  #chunked = false;
  #compressing: Compressing | undefined;
  #encoder: BodyEncoder | undefined;

  /** `head` is that of the request. */
  constructor(owner: AnswerOwner, writer: SocketWriter, record: RequestRecord, head: RequestHead) {
    this.#owner = owner;
    this.#writer = writer;
    this.#record = record;
    this.#acceptsTrailers = head.acceptsTrailers;
    this.#isCall = grpcKindOf(head) === 'grpc';
    this.#accepted = record.route?.codings === undefined ? '' : headerValue(head.fields, 'accept-encoding');
  }

  /** Whether the client or the encoder is behind. */
  get isFull(): boolean {
    return this.isBlocked || this.#encoder?.isFull === true;
  }

  /** Whether the client reads too slowly. */
  get isBlocked(): boolean {
    return this.#writer.isFull;
  }

  /** Decides how the body is framed. `head` is the final one. */
  open(head: ResponseHead): void {
    const { method, isHttp10, route } = this.#record;
    const codings = route?.codings;
    this.body = answerBody(method, head);
    if (codings !== undefined) this.#compress(head, codings);
    this.#chunked = this.#encoder !== undefined || isChunkedFor(isHttp10, this.body);
    this.body.keepsTrailers = this.#chunked && this.#acceptsTrailers;
  }

  /** `isKept`: the client's connection continues after the response. */
  sendHead(head: ResponseHead, isKept: boolean): void {
    let lines = framingLines(head, this.#chunked, isKept) + addedLines(head, this.#record);
    if (this.body.keepsTrailers) lines += announcingLine(head.announcedTrailers);
    this.#writer.send(encodeClientHead(head, this.#record, lines, this.#compressing));
  }

  /** Takes the next bytes of the service and returns how many belong to the body. Check `body.malformed` afterwards. */
  take(bytes: Buffer): number {
    return this.body.decode(bytes, 0, this);
  }

  bodyRun(bytes: Uint8Array, start: number, end: number): void {
    const view = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
    this.#record.route!.slot.traffic.sent(end - start);
    this.#record.tap?.answerBytes(view);
    if (this.#encoder !== undefined) this.#encoder.write(view);
    else if (this.#chunked) this.#writer.batch.chunk(view);
    else this.#writer.batch.view(view);
  }

  /** Must be called after `take`. */
  written(): void {
    if (this.#writer.batch.bytes > 0) this.#writer.written();
  }

  clientDrained(): void {
    this.#encoder?.resume();
  }

  /** The body is complete. Calls `answerSent`, now or later. */
  finish(): void {
    if (this.#encoder === undefined) this.encoderEnded();
    else this.#encoder.end();
  }

  /** What ends the response to a call of gRPC with a failure instead of a reset; '' if its form does not allow that. */
  endingOf(failure: Failure): string {
    const isPlain =
      this.#isCall && this.body.keepsTrailers && this.#encoder === undefined && !this.body.malformed;
    return isPlain ? `0\r\n${grpcStatusLines(failure, this.#record.id)}\r\n` : '';
  }

  destroy(): void {
    this.#encoder?.destroy();
  }

  encoded(bytes: Uint8Array): void {
    this.#writer.batch.chunk(bytes);
    this.#writer.written();
  }

  encoderDrained(): void {
    this.#owner.answerDrained();
  }

  encoderEnded(): void {
    const rules = this.#record.route?.heads?.answerRules;
    const trailers = passingTrailers(this.body.trailers, rules, this.#isCall);
    if (this.#chunked) this.#writer.batch.text(`0\r\n${trailers}\r\n`);
    this.written();
    this.#owner.answerSent();
  }

  encoderFailed(error: Error): void {
    this.#owner.upstreamFault(error);
  }

  #compress(head: ResponseHead, codings: readonly ContentCoding[]): void {
    const { method, isHttp10 } = this.#record;
    const acceptance = { method, isHttp10, accepted: this.#accepted, codings };
    this.#compressing = compressingOf(head, acceptance);
    const coding = this.#compressing?.coding;
    if (coding === undefined) return;
    this.#encoder = BodyEncoder.open(coding, this);
    if (this.#encoder === undefined) this.#compressing = compressingOf(head, { ...acceptance, accepted: '' });
  }
}
