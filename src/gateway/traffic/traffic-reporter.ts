/**
 * Reports traffic to the control plane: collects every five seconds and sends numbered batches, one at a time. A
 * batch is sent again unchanged until it is acknowledged, so that the receiver can recognize it. Only the
 * unreported traffic of a killed process is lost.
 */
import { randomBytes } from 'node:crypto';
import {
  BackOff,
  FrontdoorError,
  messageOf,
  systemClock,
  type BackOffOptions,
  type Clock,
  type Log,
} from '#base';
import { MAX_TRAFFIC_SAMPLES, TRAFFIC_SPAN_MS, type TrafficReport } from '#domain/gateway-shapes';
import { waitAtMost } from '#net';
import type { TrafficMeter } from './share-traffic.ts';
import { TrafficLedger } from './traffic-ledger.ts';

/** Half a span, so that a collection never mixes two spans. */
const PERIOD_MS = TRAFFIC_SPAN_MS / 2;
const BACK_OFF: BackOffOptions = { minMs: 500, maxMs: 10_000, factor: 2 };

export interface TrafficReporterOptions {
  readonly meter: Pick<TrafficMeter, 'take'>;
  /** Resolves when the report was accepted, now or before. */
  readonly send: (report: TrafficReport) => Promise<void>;
  readonly log: Log;
  readonly clock?: Clock;
  readonly backOff?: BackOffOptions;
  readonly ledger?: TrafficLedger;
}

export interface TrafficReporter {
  /**
   * Collects and sends everything that is not acknowledged, for at most `timeoutMs`. Also resolves if an attempt
   * fails.
   */
  report(timeoutMs: number): Promise<void>;
  /** Sends a last report. */
  close(timeoutMs: number): Promise<void>;
}

export function startTrafficReporter(options: TrafficReporterOptions): TrafficReporter {
  const reporter = new Reporter(options);
  reporter.start();
  return reporter;
}

class Reporter implements TrafficReporter {
  readonly #options: TrafficReporterOptions;
  readonly #clock: Clock;
  readonly #ledger: TrafficLedger;
  readonly #backOff: BackOff;
  readonly #source = randomBytes(12).toString('base64url');
  #batch = 1;
  /** The batch that is not acknowledged yet. */
  #unacknowledged: TrafficReport | undefined;
  #collectedAtMs: number;
  #collection: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;
  #delivery: Promise<void> | undefined;
  #closed = false;

  constructor(options: TrafficReporterOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#ledger = options.ledger ?? new TrafficLedger();
    this.#backOff = new BackOff(options.backOff ?? BACK_OFF);
    this.#collectedAtMs = this.#clock.nowMs();
  }

  /** Collections happen at multiples of the period, so that spans are cut at their ends. */
  start(): void {
    if (this.#closed) return;
    this.#collection = setTimeout(
      () => {
        this.#collect();
        if (this.#retry === undefined) void this.#deliver();
        this.start();
      },
      PERIOD_MS - (this.#clock.nowMs() % PERIOD_MS),
    );
  }

  async report(timeoutMs: number): Promise<void> {
    await waitAtMost(this.#report(), timeoutMs);
  }

  async close(timeoutMs: number): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#collection);
    await this.report(timeoutMs);
    clearTimeout(this.#retry);
    const samples = this.#unacknowledged?.samples ?? [];
    const lost = samples.reduce((sum, { requests }) => sum + requests, this.#ledger.requests);
    if (lost > 0) this.#options.log.warn({ requests: lost }, 'closed before all traffic was reported');
  }

  async #report(): Promise<void> {
    this.#collect();
    await this.#deliver();
    // The delivery in progress may have ended before this collection.
    if (this.#retry === undefined) await this.#deliver();
  }

  #collect(): void {
    const nowMs = this.#clock.nowMs();
    // After a pause of the whole machine, the traffic belongs to now, not to the time before.
    const sinceMs = Math.max(this.#collectedAtMs, nowMs - PERIOD_MS);
    this.#collectedAtMs = nowMs;
    this.#ledger.add(this.#options.meter.take(sinceMs - (sinceMs % TRAFFIC_SPAN_MS)));
  }

  #deliver(): Promise<void> {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#delivery ??= this.#sendAll().finally(() => {
      this.#delivery = undefined;
    });
    return this.#delivery;
  }

  async #sendAll(): Promise<void> {
    for (;;) {
      if (this.#unacknowledged === undefined) {
        if (this.#ledger.size === 0) return;
        const samples = this.#ledger.take(MAX_TRAFFIC_SAMPLES);
        this.#unacknowledged = { source: this.#source, batch: this.#batch, samples };
        this.#batch += 1;
      }
      try {
        await this.#options.send(this.#unacknowledged);
      } catch (error) {
        if (!this.#isRefused(error)) return;
      }
      this.#unacknowledged = undefined;
      this.#backOff.reset();
    }
  }

  /** Returns true if this batch will never be accepted, false if it is sent again later. */
  #isRefused(error: unknown): boolean {
    const { log } = this.#options;
    const fields = { hop: 'control', batch: this.#unacknowledged?.batch, cause: messageOf(error) };
    if (error instanceof FrontdoorError && (error.kind === 'invalid' || error.kind === 'tooLarge')) {
      log.error(fields, 'the control plane refused a traffic report: its counts are lost');
      return true;
    }
    if (this.#backOff.attempts === 0) log.warn(fields, 'traffic cannot be reported now and is kept');
    if (!this.#closed) this.#retry = setTimeout(() => void this.#deliver(), this.#backOff.next());
    return false;
  }
}
