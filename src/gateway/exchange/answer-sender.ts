/** The response's half of an exchange: its rewritten head and its re-framed body on their way to the client. */
import { addedLines } from '../answers/policy-headers.ts';
import { framingLines, isChunkedFor } from '../http/answer-framing.ts';
import type { BodyDecoder, BodySink } from '../http/body-decoder.ts';
import { encodeClientHead } from '../http/forward-head-codec.ts';
import { answerBody, type ResponseHead } from '../http/response-head-policy.ts';
import { announcingLine, passingTrailers } from '../http/trailer-policy.ts';
import type { RequestRecord } from './request-record.ts';
import type { SocketWriter } from './socket-writer.ts';

export class AnswerSender implements BodySink {
  readonly body: BodyDecoder;
  readonly #writer: SocketWriter;
  readonly #record: RequestRecord;
  readonly #chunked: boolean;

  /** `head` is the final one. */
  constructor(writer: SocketWriter, record: RequestRecord, head: ResponseHead, acceptsTrailers: boolean) {
    this.#writer = writer;
    this.#record = record;
    this.body = answerBody(record.method, head);
    this.#chunked = isChunkedFor(record.isHttp10, this.body);
    this.body.keepsTrailers = this.#chunked && acceptsTrailers;
  }

  /** `isKept`: the client's connection continues after the response. */
  sendHead(head: ResponseHead, isKept: boolean): void {
    let lines = framingLines(head, this.#chunked, isKept) + addedLines(head, this.#record);
    if (this.body.keepsTrailers) lines += announcingLine(head.announcedTrailers);
    this.#writer.send(encodeClientHead(head, this.#record, lines));
  }

  /** Takes the next bytes of the service and returns how many belong to the body. Check `body.malformed` afterwards. */
  take(bytes: Buffer): number {
    return this.body.decode(bytes, 0, this);
  }

  bodyRun(bytes: Uint8Array, start: number, end: number): void {
    const view = start === 0 && end === bytes.length ? bytes : bytes.subarray(start, end);
    this.#record.route!.slot.traffic.sent(end - start);
    this.#record.tap?.answerBytes(view);
    if (this.#chunked) this.#writer.batch.chunk(view);
    else this.#writer.batch.view(view);
  }

  /** Ends a body that is complete. */
  finish(): void {
    if (this.#chunked) this.#writer.batch.text(`0\r\n${this.#trailers()}\r\n`);
    if (this.#writer.batch.bytes > 0) this.#writer.written();
  }

  #trailers(): string {
    return passingTrailers(this.body.trailers, this.#record.route?.heads?.answerRules);
  }
}
