/**
 * Traffic that the control plane has not acknowledged yet. Counts are never dropped: when the ledger grows too
 * large, spans are merged to a minute, an hour, a day, and finally latencies are dropped.
 */
import { mergeLatencies, NO_LATENCIES } from '#domain';
import { addedByClass, TRAFFIC_SPAN_MS, type TrafficSample } from '#domain/gateway-shapes';

/** Numbers held; with 8 bytes each, 32 MiB. */
const MAX_CELLS = 4_194_304;
/** The cost of an entry besides its latencies, in the same unit. */
const ENTRY_CELLS = 32;
/** Each coarser span is a multiple of the finer ones, so that the form of a sample stays. */
const SPANS_MS = [TRAFFIC_SPAN_MS, 60_000, 3_600_000, 86_400_000, 2_592_000_000];

export class TrafficLedger {
  readonly #maxCells: number;
  /** The oldest first. */
  #entries = new Map<string, TrafficSample>();
  #cells = 0;

  constructor(maxCells = MAX_CELLS) {
    this.#maxCells = maxCells;
  }

  get size(): number {
    return this.#entries.size;
  }

  get requests(): number {
    let requests = 0;
    for (const entry of this.#entries.values()) requests += entry.requests;
    return requests;
  }

  add(samples: readonly TrafficSample[]): void {
    for (const sample of samples) this.#put(sample);
    for (let i = 1; i < SPANS_MS.length && this.#cells > this.#maxCells; i += 1) this.#coarsen(SPANS_MS[i]!);
    if (this.#cells > this.#maxCells) this.#dropLatencies();
  }

  /** Removes and returns the oldest samples, at most so many. */
  take(most: number): TrafficSample[] {
    const taken: TrafficSample[] = [];
    for (const [key, entry] of this.#entries) {
      if (taken.length === most) break;
      taken.push(entry);
      this.#entries.delete(key);
      this.#cells -= cellsOf(entry);
    }
    return taken;
  }

  #put(sample: TrafficSample): void {
    const key = `${sample.startsAt} ${sample.shareId} ${sample.environmentId}`;
    const before = this.#entries.get(key);
    const entry = before === undefined ? sample : merged(before, sample);
    this.#entries.set(key, entry);
    this.#cells += cellsOf(entry) - (before === undefined ? 0 : cellsOf(before));
  }

  #coarsen(spanMs: number): void {
    this.#rebuild((entry) => ({ ...entry, startsAt: entry.startsAt - (entry.startsAt % spanMs) }));
  }

  #dropLatencies(): void {
    this.#rebuild((entry) => ({ ...entry, latency: NO_LATENCIES }));
  }

  #rebuild(change: (entry: TrafficSample) => TrafficSample): void {
    const entries = this.#entries;
    this.#entries = new Map();
    this.#cells = 0;
    for (const entry of entries.values()) this.#put(change(entry));
  }
}

function merged(a: TrafficSample, b: TrafficSample): TrafficSample {
  return {
    ...a,
    requests: a.requests + b.requests,
    errors: a.errors + b.errors,
    byClass: addedByClass(a.byClass, b.byClass),
    bytesIn: a.bytesIn + b.bytesIn,
    bytesOut: a.bytesOut + b.bytesOut,
    latency: mergeLatencies(a.latency, b.latency),
  };
}

function cellsOf(entry: TrafficSample): number {
  return ENTRY_CELLS + entry.latency.length;
}
