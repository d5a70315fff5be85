/**
 * Metrics of the router's ends of circuits: bytes and messages in and out per side (`ingress.*`, `egress.*` and the
 * circuits' `usage`), and events of their flow control (`xgress.*`).
 */
import type { XgressCounters } from '#wire/xgress';
import type { Histogram, Meter, Metrics, UsageKind } from '../metrics/metrics.ts';
import type { XgressTicker } from './xgress-ticker.ts';

const REPORT_MS = 1_000;

/** One side of circuits: their beginning or their end. */
export class SideMeters {
  readonly #metrics: Metrics;
  readonly #received: Direction;
  readonly #sent: Direction;

  constructor(metrics: Metrics, side: 'ingress' | 'egress') {
    this.#metrics = metrics;
    this.#received = directionOf(metrics, side, 'rx');
    this.#sent = directionOf(metrics, side, 'tx');
  }

  /** Counts data from the local connection. */
  received(circuitId: string, bytes: number): void {
    this.#count(this.#received, circuitId, bytes);
  }

  /** Counts data to the local connection. */
  sent(circuitId: string, bytes: number): void {
    this.#count(this.#sent, circuitId, bytes);
  }

  #count({ rate, messages, sizes, usage }: Direction, circuitId: string, bytes: number): void {
    rate.mark(bytes);
    messages.mark(1);
    sizes.update(bytes);
    this.#metrics.usage(circuitId, usage, bytes);
  }
}

interface Direction {
  readonly rate: Meter;
  readonly messages: Meter;
  readonly sizes: Histogram;
  readonly usage: UsageKind;
}

function directionOf(metrics: Metrics, side: 'ingress' | 'egress', name: 'rx' | 'tx'): Direction {
  return {
    rate: metrics.meter(`${side}.${name}.bytesrate`),
    messages: metrics.meter(`${side}.${name}.msgrate`),
    sizes: metrics.histogram(`${side}.${name}.msgsize`),
    usage: `${side}.${name}`,
  };
}

const METER_OF = {
  'xgress.rx.acks': 'acksReceived',
  'xgress.tx.acks': 'acksSent',
  'xgress.ack_duplicates': 'duplicateAcks',
  'xgress.payload_duplicates': 'duplicatePayloads',
  'xgress.dropped_payloads': 'droppedPayloads',
  'xgress.retransmissions': 'retransmissions',
  'xgress.blocked_by_local_window_rate': 'localWindowBlocks',
  'xgress.blocked_by_remote_window_rate': 'remoteWindowBlocks',
} as const satisfies Record<string, keyof XgressCounters>;

const GAUGE_OF = {
  'xgress.tx_unacked_payloads': 'unackedPayloads',
  'xgress.tx_unacked_payload_bytes': 'unackedBytes',
  'xgress.blocked_by_local_window': 'blockedByLocalWindow',
  'xgress.blocked_by_remote_window': 'blockedByRemoteWindow',
} as const satisfies Record<string, keyof XgressCounters>;

/** Adds the flow control's counters to the metrics once a second. */
export class FlowMeters {
  readonly #metrics: Metrics;
  readonly #counters: XgressCounters;
  readonly #reported = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(metrics: Metrics, counters: XgressCounters, ticker: XgressTicker) {
    this.#metrics = metrics;
    this.#counters = counters;
    for (const [name, field] of Object.entries(GAUGE_OF)) metrics.gauge(name, () => counters[field]);
    metrics.gauge('xgress.acks.queue_size', () => ticker.dueCount);
    this.#timer = setInterval(() => this.report(), REPORT_MS);
    this.#timer.unref();
  }

  report(): void {
    for (const [name, field] of Object.entries(METER_OF)) {
      const total = this.#counters[field];
      const more = total - (this.#reported.get(name) ?? 0);
      this.#reported.set(name, total);
      if (more > 0) this.#metrics.meter(name).mark(more);
    }
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
