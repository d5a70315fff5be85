/**
 * The latency of a link, measured by its heartbeats: the round trip that controllers use as its cost, and its mean for
 * health checks. If a peer answers no heartbeat for 30 s, the link is reported with so high a cost that no path uses
 * it.
 */
import type { Clock } from '#base';
import type { Histogram, Metrics } from '../metrics/metrics.ts';

/** OpenZiti's value, in nanoseconds. */
const SILENT_LATENCY_NS = 8_888_888_888_888;
const SILENT_AFTER_MS = 30_000;
const WINDOW = 64;

export class LinkLatency {
  readonly #clock: Clock;
  readonly #window = new Float64Array(WINDOW);
  #count = 0;
  readonly #histogram: Histogram;
  #lastAnswerMs: number;
  #isSilent = false;

  /** `graceMs` is the time limit for the first answer before the link counts as silent. */
  constructor(metrics: Metrics, linkId: string, clock: Clock, graceMs: number) {
    this.#clock = clock;
    this.#histogram = metrics.histogram(`link.${linkId}.latency`);
    this.#lastAnswerMs = clock.monotonicMs() + graceMs;
  }

  /** Mean of the last round trips in nanoseconds; undefined before the first answer. */
  get meanNs(): number | undefined {
    const filled = Math.min(this.#count, WINDOW);
    if (filled === 0) return undefined;
    let sum = 0;
    for (let i = 0; i < filled; i += 1) sum += this.#window[i]!;
    return sum / filled;
  }

  onAnswer(nanoseconds: number): void {
    this.#lastAnswerMs = Math.max(this.#lastAnswerMs, this.#clock.monotonicMs());
    if (this.#isSilent) this.#restart(false);
    this.#add(nanoseconds);
  }

  /** Returns true if the link became silent in this call. */
  check(): boolean {
    return this.#clock.monotonicMs() - this.#lastAnswerMs > SILENT_AFTER_MS && this.fallSilent();
  }

  /** Records that the link receives nothing at all. Returns false if it was silent before. */
  fallSilent(): boolean {
    if (this.#isSilent) return false;
    this.#restart(true);
    this.#add(SILENT_LATENCY_NS);
    return true;
  }

  /** Discards earlier measurements, which no longer describe the link. */
  #restart(isSilent: boolean): void {
    this.#isSilent = isSilent;
    this.#count = 0;
    this.#histogram.clear();
  }

  #add(nanoseconds: number): void {
    this.#window[this.#count % WINDOW] = nanoseconds;
    this.#count += 1;
    this.#histogram.update(nanoseconds);
  }
}
