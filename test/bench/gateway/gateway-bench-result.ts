/** What one run of the gateway's benchmark measured, beside the scenarios that all benchmarks have. */
import type { BenchResult } from '../bench-result.ts';

/** Idle connections at one front, in the process that clients are connected to. */
export interface IdleFacts {
  readonly connections: number;
  /** Resident bytes before and with them. */
  readonly beforeBytes: number;
  readonly heldBytes: number;
}

export interface WorkerFacts {
  /** CPU microseconds per request of all gateway processes together. */
  readonly oneWorkerUs: number;
  readonly twoWorkersUs: number;
  /** Connections by worker. */
  readonly spread: readonly number[];
}

export interface GatewayBenchResult extends BenchResult {
  /** By kind (`plain`, `TLS`), then by front. */
  readonly idle: Readonly<Record<string, Readonly<Record<string, IdleFacts>>>>;
  readonly workers: WorkerFacts | undefined;
}
