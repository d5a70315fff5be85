/**
 * Metrics of all traffic over links: OpenZiti's `fabric.*` metrics and the circuits' `fabricUsage`. Frames are counted
 * in plain fields, which are added to the metrics once a second: updating the metrics for each frame cost as much as
 * forwarding it.
 */
import { PAYLOAD_TYPE, type DataFrame } from '#wire/xgress';
import type { Histogram, Meter, Metrics } from '../metrics/metrics.ts';
import type { RoutedCircuit } from './circuit-table.ts';

const REPORT_MS = 1_000;

export class FabricMeters {
  readonly #metrics: Metrics;
  readonly #received: Direction;
  readonly #sent: Direction;
  /** Circuits with bytes that were not reported yet. */
  readonly #counted: RoutedCircuit[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(metrics: Metrics) {
    this.#metrics = metrics;
    this.#received = directionOf(metrics, 'rx');
    this.#sent = directionOf(metrics, 'tx');
    this.#timer = setInterval(() => this.report(), REPORT_MS);
    this.#timer.unref();
  }

  received(frame: DataFrame, circuit: RoutedCircuit | undefined): void {
    const bytes = count(this.#received, frame);
    if (circuit === undefined || bytes === 0 || frame.contentType !== PAYLOAD_TYPE) return;
    this.#note(circuit);
    circuit.receivedBytes += bytes;
  }

  sent(frame: DataFrame, circuit: RoutedCircuit): void {
    const bytes = count(this.#sent, frame);
    if (bytes === 0 || frame.contentType !== PAYLOAD_TYPE) return;
    this.#note(circuit);
    circuit.sentBytes += bytes;
  }

  report(): void {
    for (const direction of [this.#received, this.#sent]) {
      if (direction.countedMessages === 0) continue;
      direction.bytes.mark(direction.countedBytes);
      direction.messages.mark(direction.countedMessages);
      direction.countedBytes = 0;
      direction.countedMessages = 0;
    }
    for (const circuit of this.#counted.splice(0)) {
      if (circuit.receivedBytes > 0) this.#metrics.usage(circuit.id, 'fabric.rx', circuit.receivedBytes);
      if (circuit.sentBytes > 0) this.#metrics.usage(circuit.id, 'fabric.tx', circuit.sentBytes);
      circuit.receivedBytes = 0;
      circuit.sentBytes = 0;
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.report();
  }

  #note(circuit: RoutedCircuit): void {
    if (circuit.receivedBytes === 0 && circuit.sentBytes === 0) this.#counted.push(circuit);
  }
}

interface Direction {
  readonly bytes: Meter;
  readonly messages: Meter;
  readonly sizes: Histogram;
  countedBytes: number;
  countedMessages: number;
}

function count(direction: Direction, frame: DataFrame): number {
  const bytes = frame.contentType === PAYLOAD_TYPE ? frame.data.length : 4 * frame.sequences.length;
  direction.countedBytes += bytes;
  direction.countedMessages += 1;
  direction.sizes.update(bytes);
  return bytes;
}

function directionOf(metrics: Metrics, name: 'rx' | 'tx'): Direction {
  return {
    bytes: metrics.meter(`fabric.${name}.bytesrate`),
    messages: metrics.meter(`fabric.${name}.msgrate`),
    sizes: metrics.histogram(`fabric.${name}.msgsize`),
    countedBytes: 0,
    countedMessages: 0,
  };
}
