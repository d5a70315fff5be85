/** What one run of the fabric's benchmark measured. */
import type { Figure } from '../figure.ts';

export interface FabricFigures {
  /** Bytes, messages or circuits per second. */
  readonly rate: Figure;
  readonly p50Us: Figure;
  readonly p99Us: Figure;
}

export interface FabricResults {
  /** By scenario, then by maker and hops: `Frontdoor 3`. */
  readonly scenarios: Map<string, Map<string, FabricFigures>>;
  /** Bytes per idle circuit of each hop, door first. */
  readonly idleBytes: Map<string, readonly number[]>;
  /** Payloads that the middle router forwarded per second of its CPU time. */
  payloadsPerCore: number | undefined;
}
