/**
 * Counts bytes of circuits in buckets of one report interval, aligned to it. A bucket is reported once a later one has
 * begun, or when it is older than the age threshold. A plain mutable class, because it is called for every frame.
 */
import type { UsageKind, UsageTags } from './metrics.ts';

/** The kinds of a counter, which distinguish a bucket of `usage` from one of `fabricUsage`. */
const USAGE_KINDS: readonly UsageKind[] = ['ingress.rx', 'ingress.tx', 'egress.rx', 'egress.tx'];
const FABRIC_KINDS: readonly UsageKind[] = ['fabric.rx', 'fabric.tx'];
const NO_TAGS = {};
/** Maximum number of circuits per bucket. Bytes of further circuits are not counted. */
const MAX_CIRCUITS = 1_000_000;

export interface UsageBucket {
  readonly startMs: number;
  readonly lengthMs: number;
  readonly circuits: ReadonlyMap<string, CircuitUsage>;
}

export interface CircuitUsage {
  readonly bytes: ReadonlyMap<UsageKind, number>;
  readonly tags: Readonly<Record<string, string>>;
}

export interface UsageLedgerOptions {
  /** Duration of a bucket. */
  readonly intervalMs: number;
  readonly ageThresholdMs: number;
}

export class UsageLedger {
  readonly #usage: UsageCounter;
  readonly #fabric: UsageCounter;

  constructor(options: UsageLedgerOptions) {
    this.#usage = new UsageCounter(USAGE_KINDS, options);
    this.#fabric = new UsageCounter(FABRIC_KINDS, options);
  }

  /** As OpenZiti's routers, it tags the bytes at the ends of circuits, not those over links. */
  tagBy(tagsOf: UsageTags): void {
    this.#usage.tagsOf = tagsOf;
  }

  add(circuitId: string, kind: UsageKind, bytes: number, nowMs: number): void {
    if (bytes === 0) return;
    switch (kind) {
      case 'ingress.rx':
        return this.#usage.add(circuitId, 0, bytes, nowMs);
      case 'ingress.tx':
        return this.#usage.add(circuitId, 1, bytes, nowMs);
      case 'egress.rx':
        return this.#usage.add(circuitId, 2, bytes, nowMs);
      case 'egress.tx':
        return this.#usage.add(circuitId, 3, bytes, nowMs);
      case 'fabric.rx':
        return this.#fabric.add(circuitId, 0, bytes, nowMs);
      case 'fabric.tx':
        return this.#fabric.add(circuitId, 1, bytes, nowMs);
    }
  }

  /** Removes and returns the buckets that are due, the oldest first. */
  take(nowMs: number): UsageBucket[] {
    return [...this.#usage.take(nowMs), ...this.#fabric.take(nowMs)].sort((a, b) => a.startMs - b.startMs);
  }
}

/** Bytes by the index of their kind. */
interface Counted {
  readonly values: number[];
  tags: ReturnType<UsageTags>;
}

class UsageCounter {
  tagsOf: UsageTags = () => undefined;
  readonly #kinds: readonly UsageKind[];
  readonly #intervalMs: number;
  readonly #ageThresholdMs: number;
  /** Buckets by start. There are few, because reports remove the earlier ones. */
  readonly #buckets = new Map<number, Map<string, Counted>>();
  #newestMs = 0;
  #currentMs = 0;
  #currentEndMs = 0;
  #current: Map<string, Counted> = new Map();
  #lastCircuit = '';
  #last: number[] | undefined;

  constructor(kinds: readonly UsageKind[], { intervalMs, ageThresholdMs }: UsageLedgerOptions) {
    this.#kinds = kinds;
    this.#intervalMs = intervalMs;
    this.#ageThresholdMs = ageThresholdMs;
  }

  add(circuitId: string, kind: number, bytes: number, nowMs: number): void {
    if (nowMs < this.#currentMs || nowMs >= this.#currentEndMs)
      this.#enter(nowMs - (nowMs % this.#intervalMs));
    if (this.#last === undefined || this.#lastCircuit !== circuitId) {
      this.#last = this.#valuesOf(circuitId);
      this.#lastCircuit = circuitId;
      if (this.#last === undefined) return;
    }
    this.#last[kind]! += bytes;
  }

  take(nowMs: number): UsageBucket[] {
    const taken: UsageBucket[] = [];
    for (const [startMs, bucket] of this.#buckets) {
      if (startMs >= this.#newestMs && startMs > nowMs - this.#ageThresholdMs) continue;
      this.#buckets.delete(startMs);
      if (startMs === this.#currentMs) this.#currentEndMs = 0;
      taken.push({ startMs, lengthMs: this.#intervalMs, circuits: this.#named(bucket) });
    }
    return taken;
  }

  #enter(startMs: number): void {
    let bucket = this.#buckets.get(startMs);
    if (bucket === undefined) {
      bucket = new Map();
      this.#buckets.set(startMs, bucket);
    }
    this.#newestMs = Math.max(this.#newestMs, startMs);
    this.#currentMs = startMs;
    this.#currentEndMs = startMs + this.#intervalMs;
    this.#current = bucket;
    this.#last = undefined;
  }

  #valuesOf(circuitId: string): number[] | undefined {
    const known = this.#current.get(circuitId);
    if (known !== undefined) {
      // Data of a host may arrive before the circuit is routed.
      known.tags ??= this.tagsOf(circuitId);
      return known.values;
    }
    if (this.#current.size >= MAX_CIRCUITS) return undefined;
    const values = this.#kinds.map(() => 0);
    this.#current.set(circuitId, { values, tags: this.tagsOf(circuitId) });
    return values;
  }

  #named(bucket: ReadonlyMap<string, Counted>): UsageBucket['circuits'] {
    const circuits = new Map<string, CircuitUsage>();
    for (const [circuitId, { values, tags = NO_TAGS }] of bucket) {
      const named = new Map<UsageKind, number>();
      for (const [at, kind] of this.#kinds.entries()) if (values[at]! > 0) named.set(kind, values[at]!);
      circuits.set(circuitId, { bytes: named, tags });
    }
    return circuits;
  }
}
