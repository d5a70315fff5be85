/**
 * Makes entries of the request log of each frontdoor (ADR 0112): at most so many a second for each frontdoor and in
 * total, separately for requests that were served and for those that were not, so that neither displaces the other.
 * Requests beyond a limit are counted, and the next entry of their frontdoor has their number. The query is left out,
 * because it may contain secrets.
 */
import type { LoggedRequest, RequestOutcome } from '#domain/gateway-shapes';
import type { Failure } from '../answers/failure-table.ts';
import type { RequestObserver, RequestRecord } from '../exchange/request-record.ts';
import { identityTextOf, pathOf, timingsOf, traceIdOf, unixMsOf } from './request-facts.ts';

/** For each of the two classes. A log keeps 100,000 entries by default, which is about one a second over a day. */
export const MAX_LOGGED_PER_SECOND = 300;
export const MAX_LOGGED_PER_FRONTDOOR = 100;
/** Frontdoors whose lost entries are remembered until their next one. */
const MAX_REMEMBERED = 1_000;
const MAX_HOST = 255;
const MAX_PATH = 512;
const MAX_TEXT = 300;
const MAX_DECISION = 200;

export interface RequestLogOptions {
  /** Receives an entry, which is served or not. */
  readonly add: (entry: LoggedRequest, isServed: boolean) => void;
  /** Monotonic. */
  readonly nowMs: () => number;
}

/** The entries of a frontdoor in this second. */
class FrontdoorSecond {
  served = 0;
  others = 0;
  leftOut = 0;
  /** The last request that was left out. */
  latest: RequestRecord | undefined;
  latestOutcome: RequestOutcome = 'served';
  latestFailure: Failure | undefined;
}

export class RequestLog implements RequestObserver {
  readonly #options: RequestLogOptions;
  readonly #frontdoors = new Map<string, FrontdoorSecond>();
  #served = 0;
  #others = 0;
  #endsMs = 0;
  #leftOut = 0;

  constructor(options: RequestLogOptions) {
    this.#options = options;
  }

  /** Number of requests without an entry. */
  get leftOut(): number {
    return this.#leftOut;
  }

  began(): void {}

  refused(): void {}

  served(record: RequestRecord): void {
    this.#finished(record, 'served', undefined);
  }

  failed(record: RequestRecord, failure: Failure): void {
    this.#finished(record, failedOutcome(record), failure);
  }

  gone(record: RequestRecord): void {
    this.#finished(record, 'client-gone', undefined);
  }

  /** Begins a new second when the last one is over, also while no request comes. */
  flush(): void {
    const nowMs = this.#options.nowMs();
    if (nowMs >= this.#endsMs) this.#renew(nowMs);
  }

  /** Counts an entry that could not be reported. The next one of its frontdoor has the number. */
  lost({ frontdoorId, leftOut }: LoggedRequest): void {
    this.#secondOf(frontdoorId).leftOut += leftOut + 1;
  }

  /** Adds what a second that has not ended yet left out. */
  end(): void {
    this.#renew(this.#options.nowMs());
  }

  #finished(record: RequestRecord, outcome: RequestOutcome, failure: Failure | undefined): void {
    const frontdoorId = record.route?.share.frontdoorId;
    if (frontdoorId === undefined) return;
    // The end of the request, which is the present, spares a look at the clock.
    const nowMs = record.doneMs === 0 ? this.#options.nowMs() : record.doneMs;
    if (nowMs >= this.#endsMs) this.#renew(nowMs);
    const second = this.#secondOf(frontdoorId);
    if (this.#takes(second, outcome === 'served')) {
      this.#add(record, outcome, failure, second.leftOut);
      second.leftOut = 0;
      second.latest = undefined;
      return;
    }
    this.#leftOut += 1;
    second.leftOut += 1;
    second.latest = record;
    second.latestOutcome = outcome;
    second.latestFailure = failure;
  }

  #takes(second: FrontdoorSecond, isServed: boolean): boolean {
    const ofFrontdoor = isServed ? second.served : second.others;
    const total = isServed ? this.#served : this.#others;
    if (ofFrontdoor >= MAX_LOGGED_PER_FRONTDOOR || total >= MAX_LOGGED_PER_SECOND) return false;
    if (isServed) {
      second.served += 1;
      this.#served += 1;
    } else {
      second.others += 1;
      this.#others += 1;
    }
    return true;
  }

  /** The last request that was left out gets an entry after all, which has the number of the others. */
  #renew(nowMs: number): void {
    this.#endsMs = nowMs + 1_000;
    this.#served = 0;
    this.#others = 0;
    const before = [...this.#frontdoors];
    this.#frontdoors.clear();
    for (const [id, { latest, latestOutcome, latestFailure, leftOut }] of before) {
      if (latest !== undefined) {
        this.#leftOut -= 1;
        this.#add(latest, latestOutcome, latestFailure, leftOut - 1);
      } else if (leftOut > 0 && this.#frontdoors.size < MAX_REMEMBERED) this.#secondOf(id).leftOut = leftOut;
    }
  }

  #secondOf(frontdoorId: string): FrontdoorSecond {
    let second = this.#frontdoors.get(frontdoorId);
    if (second === undefined) {
      second = new FrontdoorSecond();
      this.#frontdoors.set(frontdoorId, second);
    }
    return second;
  }

  #add(record: RequestRecord, outcome: RequestOutcome, failure: Failure | undefined, leftOut: number): void {
    this.#options.add(entryOf(record, outcome, failure, leftOut), outcome === 'served');
  }
}

function failedOutcome({ isBrokenOff, admission }: RequestRecord): RequestOutcome {
  if (isBrokenOff) return 'broken-off';
  return admission === undefined ? 'refused' : 'failed';
}

function entryOf(
  record: RequestRecord,
  outcome: RequestOutcome,
  failure: Failure | undefined,
  leftOut: number,
): LoggedRequest {
  const { id, client, method, host, status, decision, identity, bytesIn, bytesOut } = record;
  const { share } = record.route!;
  return {
    id,
    at: unixMsOf(record.startedMs),
    shareId: share.id,
    frontdoorId: share.frontdoorId,
    outcome,
    status,
    method,
    host: host.slice(0, MAX_HOST),
    path: pathOf(record.target).slice(0, MAX_PATH),
    client: client.address,
    identity: identityTextOf(record)?.slice(0, MAX_TEXT) ?? null,
    providerId: identity?.providerId ?? null,
    decision: decision.slice(0, MAX_DECISION),
    code: failure?.code ?? null,
    hop: failure?.hop ?? null,
    cause: failure?.cause.slice(0, MAX_TEXT) ?? null,
    traceId: traceIdOf(record) || null,
    bytesIn,
    bytesOut,
    timings: timingsOf(record),
    leftOut,
  };
}
