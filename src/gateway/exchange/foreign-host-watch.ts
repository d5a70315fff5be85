/**
 * Looks at the first bytes of a refusal by the service, to name the remedy if a known application does not accept the host
 * of the request. The response passes unchanged. Only refusals are looked at, and only in clear.
 */
import { FOREIGN_HOST_BYTES, foreignHostCause, mayRefuseHost } from '#domain/upstream';
import type { Failure } from '../answers/failure-table.ts';
import type { FieldLines } from '../http/head-decoder.ts';
import { hasHeader } from '../http/header-name.ts';
import type { ResponseHead } from '../http/response-head-policy.ts';
import type { ExchangeTap, RequestObserver, RequestRecord } from './request-record.ts';

class ForeignHostWatch implements ExchangeTap {
  readonly inner: ExchangeTap | undefined;
  #begin = '';

  constructor(inner: ExchangeTap | undefined) {
    this.inner = inner;
  }

  get begin(): string {
    return this.#begin;
  }

  requestBytes(view: Uint8Array): void {
    this.inner?.requestBytes(view);
  }

  answerHead(status: number, fields: FieldLines): void {
    this.inner?.answerHead(status, fields);
  }

  answerBytes(view: Uint8Array): void {
    this.inner?.answerBytes(view);
    const left = FOREIGN_HOST_BYTES - this.#begin.length;
    if (left > 0) this.#begin += Buffer.from(view.subarray(0, left)).toString('latin1');
  }
}

/** Passes the final head of a response to the tap of its request. */
export function tapAnswerHead(record: RequestRecord, { status, fields }: ResponseHead): void {
  record.tap?.answerHead(status, fields);
  if (mayRefuseHost(status) && !hasHeader(fields, 'content-encoding'))
    record.tap = new ForeignHostWatch(record.tap);
}

/** Reports a complete response of the service: as served, or as refused for its host. */
export function reportServed(observer: RequestObserver, record: RequestRecord): void {
  const { tap, status } = record;
  const cause = tap instanceof ForeignHostWatch ? foreignHostCause(status, tap.begin) : undefined;
  if (cause === undefined) observer.served(record);
  else observer.failed(record, foreignHost(status, cause));
}

function foreignHost(status: number, cause: string): Failure {
  return { status, code: 'foreign-host', hop: 'service', message: 'The service refused the request.', cause };
}
