/**
 * Makes of each request to a known share that failed or was refused what its owner is told by the error id on the page.
 * Bounded a second, for all and for each share, so that who is refused on purpose does not push out what others need.
 */
import type { RequestFailure } from '#domain';
import type { Failure } from '../answers/failure-table.ts';
import type { RequestObserver, RequestRecord } from '../exchange/request-record.ts';
import { identityTextOf, pathOf, timingsOf, traceIdOf, unixMsOf } from './request-facts.ts';

const MAX_PER_SECOND = 200;
const MAX_PER_SHARE = 50;
const MAX_PATH = 1_024;
const MAX_TEXT = 500;

export interface FailureRecorderOptions {
  readonly add: (failure: RequestFailure) => void;
  /** Monotonic. */
  readonly nowMs: () => number;
}

export class FailureRecorder implements RequestObserver {
  readonly #options: FailureRecorderOptions;
  readonly #byShare = new Map<string, number>();
  #count = 0;
  #sinceMs: number;
  #withheld = 0;

  constructor(options: FailureRecorderOptions) {
    this.#options = options;
    this.#sinceMs = options.nowMs();
  }

  /** Failures that were too many in their second. */
  get withheld(): number {
    return this.#withheld;
  }

  began(): void {}

  refused(): void {}

  served(): void {}

  gone(): void {}

  flush(): void {}

  failed(record: RequestRecord, failure: Failure): void {
    const share = record.route?.share;
    if (share === undefined) return;
    if (!this.#isWithinBounds(share.id)) {
      this.#withheld += 1;
      return;
    }
    const { id, client, method, host, status, decision } = record;
    this.#options.add({
      id,
      at: unixMsOf(record.startedMs),
      shareId: share.id,
      frontdoorId: share.frontdoorId,
      status: record.isBrokenOff ? failure.status : status,
      code: failure.code,
      hop: failure.hop,
      cause: failure.cause.slice(0, MAX_TEXT),
      method,
      host,
      path: pathOf(record.target).slice(0, MAX_PATH),
      client: client.address,
      identity: identityTextOf(record)?.slice(0, MAX_TEXT) ?? null,
      decision: decision.slice(0, MAX_TEXT),
      traceId: traceIdOf(record) || null,
      timings: timingsOf(record),
    });
  }

  #isWithinBounds(shareId: string): boolean {
    const nowMs = this.#options.nowMs();
    if (nowMs - this.#sinceMs >= 1_000) {
      this.#sinceMs = nowMs;
      this.#count = 0;
      this.#byShare.clear();
    }
    const ofShare = this.#byShare.get(shareId) ?? 0;
    if (this.#count >= MAX_PER_SECOND || ofShare >= MAX_PER_SHARE) return false;
    this.#count += 1;
    this.#byShare.set(shareId, ofShare + 1);
    return true;
  }
}
