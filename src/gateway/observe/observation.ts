/**
 * Combines the observers of a gateway's requests: access log, metrics, failure records, inspected requests, request
 * log. The wiring creates one, passes its `observer` to the gateway, and closes it last.
 */
import { performance } from 'node:perf_hooks';
import type { Log } from '#base';
import type {
  GatewayProvider,
  InspectedRequest,
  LoggedRequest,
  RequestFailure,
} from '#domain/gateway-shapes';
import type { RequestObserver } from '../exchange/request-record.ts';
import { AccessLog } from './access-log.ts';
import type { Exposition } from '#net/metrics';
import { FailureRecorder } from './failure-recorder.ts';
import { Inspector } from './inspector.ts';
import { RecordReporter } from './record-reporter.ts';
import { RequestLog } from './request-log.ts';
import { RequestMetrics } from './request-metrics.ts';
import { RequestObservers } from './request-observers.ts';

export interface ObservationOptions {
  readonly reportFailures: (failures: readonly RequestFailure[]) => Promise<void>;
  readonly reportInspections: (inspected: readonly InspectedRequest[]) => Promise<void>;
  readonly reportRequests: (requests: readonly LoggedRequest[]) => Promise<void>;
  /** Returns providers by id, as the feed has them. */
  readonly provider: (id: string) => GatewayProvider | undefined;
  /** A file, or `-` for standard output; undefined: no access log. */
  readonly accessLog?: string | undefined;
  /** Whether metrics are exposed. Without them nothing is counted. */
  readonly hasMetrics: boolean;
  readonly log: Log;
  /** Delay between a record and its report. */
  readonly delayMs?: number;
}

const MAX_FAILURES = 5_000;
const MAX_FAILURE_BYTES = 8 * 1_048_576;
/** Separate from the limit of shares, so that a flood of unknown hosts displaces nothing. */
const MAX_UNROUTED = 500;
const MAX_UNROUTED_BYTES = 1_048_576;
/** For each of two classes of requests. It lasts for half a minute at the rate of `RequestLog`. */
const MAX_LOGGED = 10_000;
const MAX_LOGGED_BYTES = 4 * 1_048_576;
const MAX_INSPECTED = 2_000;
const MAX_INSPECTED_BYTES = 32 * 1_048_576;

export class Observation {
  readonly observer: RequestObserver;
  readonly #accessLog: AccessLog | undefined;
  readonly #metrics: RequestMetrics | undefined;
  readonly #recorder: FailureRecorder;
  readonly #inspector: Inspector;
  readonly #failures: RecordReporter<RequestFailure>;
  readonly #unrouted: RecordReporter<RequestFailure>;
  readonly #inspected: RecordReporter<InspectedRequest>;
  readonly #log: RequestLog;
  readonly #served: RecordReporter<LoggedRequest>;
  readonly #unserved: RecordReporter<LoggedRequest>;

  /** @throws FrontdoorError `cannot-open-log` */
  constructor(options: ObservationOptions) {
    const { log, accessLog, provider, reportFailures, reportInspections } = options;
    const delay = options.delayMs === undefined ? {} : { delayMs: options.delayMs };
    this.#failures = new RecordReporter({
      what: 'failure records',
      send: reportFailures,
      log,
      maxRecords: MAX_FAILURES,
      maxBytes: MAX_FAILURE_BYTES,
      ...delay,
    });
    this.#unrouted = new RecordReporter({
      what: 'failure records of unknown hosts',
      send: reportFailures,
      log,
      maxRecords: MAX_UNROUTED,
      maxBytes: MAX_UNROUTED_BYTES,
      ...delay,
    });
    this.#inspected = new RecordReporter({
      what: 'inspected requests',
      send: reportInspections,
      log,
      maxRecords: MAX_INSPECTED,
      maxBytes: MAX_INSPECTED_BYTES,
      ...delay,
    });
    const ofLog = {
      send: options.reportRequests,
      log,
      maxRecords: MAX_LOGGED,
      maxBytes: MAX_LOGGED_BYTES,
      onLost: (entry: LoggedRequest) => this.#log.lost(entry),
      ...delay,
    };
    this.#served = new RecordReporter({ ...ofLog, what: 'log entries of served requests' });
    this.#unserved = new RecordReporter({ ...ofLog, what: 'log entries of requests that were not served' });
    this.#log = new RequestLog({
      add: (entry, isServed) => (isServed ? this.#served : this.#unserved).add(entry),
      nowMs: () => performance.now(),
    });
    this.#recorder = new FailureRecorder({
      add: (failure) => this.#failures.add(failure),
      addUnrouted: (failure) => this.#unrouted.add(failure),
      nowMs: () => performance.now(),
    });
    this.#inspector = new Inspector({
      add: (inspected) => this.#inspected.add(inspected),
      provider,
      nowMs: () => Date.now(),
    });
    this.#accessLog = accessLog === undefined ? undefined : new AccessLog({ path: accessLog, log });
    this.#metrics = options.hasMetrics ? new RequestMetrics() : undefined;
    this.observer = new RequestObservers([
      ...(this.#accessLog === undefined ? [] : [this.#accessLog]),
      ...(this.#metrics === undefined ? [] : [this.#metrics]),
      this.#recorder,
      this.#inspector,
      this.#log,
    ]);
  }

  /** Receives the result of a replay. */
  replayed(inspected: InspectedRequest): void {
    this.#inspected.add(inspected);
  }

  /** Reopens the access log after its file was moved away. */
  reopen(): void {
    this.#accessLog?.reopen();
  }

  write(to: Exposition): void {
    this.#metrics?.write(to);
    to.family(
      'frontdoor_gateway_dropped_total',
      'counter',
      'Log lines and records of requests that were dropped because there were too many',
      [
        [{ what: 'access_log_lines' }, this.#accessLog?.dropped ?? 0],
        [{ what: 'failure_records' }, this.#failures.dropped + this.#recorder.withheld],
        [{ what: 'unrouted_failure_records' }, this.#unrouted.dropped + this.#recorder.withheldUnrouted],
        [{ what: 'inspected_requests' }, this.#inspected.dropped + this.#inspector.skipped],
        [{ what: 'request_log_entries' }, this.#log.leftOut + this.#served.dropped + this.#unserved.dropped],
      ],
    );
    to.one(
      'frontdoor_gateway_inspected_bytes',
      'gauge',
      'Bytes that recorded requests take while they are inspected',
      this.#inspector.heldBytes,
    );
  }

  /** Writes and reports pending records, for at most `timeoutMs`. */
  async close(timeoutMs: number): Promise<void> {
    this.observer.flush();
    this.#log.end();
    await Promise.all([
      this.#accessLog?.close(timeoutMs),
      this.#failures.close(timeoutMs),
      this.#unrouted.close(timeoutMs),
      this.#inspected.close(timeoutMs),
      this.#served.close(timeoutMs),
      this.#unserved.close(timeoutMs),
    ]);
  }
}
