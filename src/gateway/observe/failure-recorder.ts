/**
 * Records requests that failed or were refused under the error id of their page: for the owner of the share, or
 * for operators if no share has the host. The rate is limited in total, per share, and separately for hosts
 * without a share, so that intended refusals do not displace records that others need.
 */
import { NO_SHARE, type RequestFailure } from '#domain/gateway-shapes';
import type { Failure } from '../answers/failure-table.ts';
import type { RequestObserver, RequestRecord } from '../exchange/request-record.ts';
import { identityTextOf, pathOf, timingsOf, traceIdOf, unixMsOf } from './request-facts.ts';

const MAX_PER_SECOND = 200;
const MAX_PER_SHARE = 50;
/** Limit for requests to hosts without a share: a sample of a flood is enough. */
const MAX_WITHOUT_SHARE = 10;
const MAX_PATH = 1_024;
const MAX_HOST = 255;
const MAX_TEXT = 500;

export interface FailureRecorderOptions {
  /** Receives the failure of a request to a share. */
  readonly add: (failure: RequestFailure) => void;
  /** Receives the failure of a request to a host without a share. */
  readonly addUnrouted: (failure: RequestFailure) => void;
  /** Monotonic. */
  readonly nowMs: () => number;
}

export class FailureRecorder implements RequestObserver {
  readonly #options: FailureRecorderOptions;
  readonly #byShare = new Map<string, number>();
  #count = 0;
  #sinceMs: number;
  #withheld = 0;
  #unrouted = 0;
  #withheldUnrouted = 0;

  constructor(options: FailureRecorderOptions) {
    this.#options = options;
    this.#sinceMs = options.nowMs();
  }

  /** Number of failures of requests to shares that exceeded the limit of their second. */
  get withheld(): number {
    return this.#withheld;
  }

  /** Number of failures of requests to hosts without a share that exceeded the limit of their second. */
  get withheldUnrouted(): number {
    return this.#withheldUnrouted;
  }

  began(): void {}

  refused(): void {}

  served(): void {}

  gone(): void {}

  flush(): void {}

  failed(record: RequestRecord, failure: Failure): void {
    const share = record.route?.share;
    this.#renewBounds();
    if (share === undefined) {
      if (this.#unrouted < MAX_WITHOUT_SHARE) {
        this.#unrouted += 1;
        this.#options.addUnrouted(failureOf(record, failure, NO_SHARE, ''));
      } else this.#withheldUnrouted += 1;
      return;
    }
    if (this.#isWithinBounds(share.id))
      this.#options.add(failureOf(record, failure, share.id, share.frontdoorId));
    else this.#withheld += 1;
  }

  #renewBounds(): void {
    const nowMs = this.#options.nowMs();
    if (nowMs - this.#sinceMs < 1_000) return;
    this.#sinceMs = nowMs;
    this.#count = 0;
    this.#unrouted = 0;
    this.#byShare.clear();
  }

  #isWithinBounds(shareId: string): boolean {
    const ofShare = this.#byShare.get(shareId) ?? 0;
    if (this.#count >= MAX_PER_SECOND || ofShare >= MAX_PER_SHARE) return false;
    this.#count += 1;
    this.#byShare.set(shareId, ofShare + 1);
    return true;
  }
}

function failureOf(
  record: RequestRecord,
  failure: Failure,
  shareId: string,
  frontdoorId: string,
): RequestFailure {
  const { id, client, method, host, status, decision } = record;
  return {
    id,
    at: unixMsOf(record.startedMs),
    shareId,
    frontdoorId,
    status: record.isBrokenOff ? failure.status : status,
    code: failure.code,
    hop: failure.hop,
    cause: failure.cause.slice(0, MAX_TEXT),
    method,
    host: host.slice(0, MAX_HOST),
    path: pathOf(record.target).slice(0, MAX_PATH),
    client: client.address,
    identity: identityTextOf(record)?.slice(0, MAX_TEXT) ?? null,
    decision: decision.slice(0, MAX_TEXT),
    traceId: traceIdOf(record) || null,
    timings: timingsOf(record),
  };
}
