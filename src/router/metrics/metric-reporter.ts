/**
 * Sends the metrics to every controller once per report interval. All controllers but the first get a flag not to
 * propagate them. While no controller accepts messages, a limited number of them wait; beyond that, the oldest is
 * dropped.
 */
import type { Clock, Log } from '#base';
import { makeFrame } from '#wire';
import { ctrlMessages } from '#wire/ctrl';
import type { MetricsConfig } from '../config/router-config.ts';
import type { Controllers, InspectSource } from '../ctrl/controllers.ts';
import type { MetricRegistry } from './metric-registry.ts';
import { makeMetricsMessage, type MetricsMessage } from './metrics-message.ts';

export interface MetricReporterOptions {
  readonly routerId: string;
  readonly config: MetricsConfig;
  readonly registry: MetricRegistry;
  readonly controllers: Controllers;
  readonly clock: Clock;
  readonly log: Log;
}

/** The longest delay that timers of the platform support. */
const LONGEST_TIMER_MS = 2_147_483_647;

export class MetricReporter {
  readonly #options: MetricReporterOptions;
  readonly #timer: NodeJS.Timeout;
  readonly #waiting: MetricsMessage[] = [];
  #dropped = 0;
  #isClosed = false;

  constructor(options: MetricReporterOptions) {
    this.#options = options;
    const intervalMs = Math.min(options.config.reportIntervalMs, LONGEST_TIMER_MS);
    this.#timer = setInterval(() => this.report(), intervalMs);
    this.#timer.unref();
    options.controllers.onConnected(() => this.#sendWaiting());
  }

  /** Messages that wait for a controller. */
  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** Sends one message. Called by the timer. */
  report(): void {
    const { routerId, registry, clock } = this.#options;
    this.#waiting.push(makeMetricsMessage(routerId, clock.nowMs(), registry.read(), registry.takeUsage()));
    this.#sendWaiting();
    this.#dropOldest();
  }

  /** The name under which OpenZiti's controllers request the current metrics. */
  readonly inspect: InspectSource = (name) => {
    if (!name.startsWith('metrics')) return undefined;
    const { routerId, registry, clock } = this.#options;
    return plainOf(makeMetricsMessage(routerId, clock.nowMs(), registry.read(), []));
  };

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#waiting.length = 0;
  }

  #sendWaiting(): void {
    while (!this.#isClosed && this.#waiting.length > 0) {
      if (!this.#send(this.#waiting[0]!)) return;
      this.#waiting.shift();
    }
  }

  /**
   * Returns false if no controller accepted it. Controllers with a full channel are skipped, because the message would
   * only wait there.
   */
  #send(message: MetricsMessage): boolean {
    const { metrics } = ctrlMessages;
    let others: Uint8Array | undefined;
    let isFirst = true;
    for (const { channel } of this.#options.controllers.all()) {
      if (channel.isClosed || !channel.isWritable) continue;
      if (isFirst) {
        channel.send(metrics.frame({ ...message, doNotPropagate: false }));
        isFirst = false;
      } else {
        others ??= metrics.encode({ ...message, doNotPropagate: true });
        channel.send(makeFrame(metrics.contentType, { body: others }));
      }
    }
    return !isFirst;
  }

  #dropOldest(): void {
    const { config, log } = this.#options;
    const surplus = this.#waiting.length - config.messageQueueSize;
    if (surplus <= 0) {
      if (this.#waiting.length === 0) this.#dropped = 0;
      return;
    }
    this.#waiting.splice(0, surplus);
    if (this.#dropped === 0) {
      log.warn(
        { messageQueueSize: config.messageQueueSize },
        'no controller accepts metrics; dropping the oldest message with each report',
      );
    }
    this.#dropped += surplus;
  }
}

/** Converts bigints to numbers, because JSON has no bigints. */
function plainOf(message: MetricsMessage): unknown {
  return JSON.parse(
    JSON.stringify(message, (_key, value: unknown) => (typeof value === 'bigint' ? Number(value) : value)),
  );
}
