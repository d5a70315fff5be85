/** Results for tests of goals and reports: nothing measured but what a test gives. */
import { RESULT_FORMAT, type BenchResult, type Measured } from './bench-result.ts';
import { figureOf } from './figure.ts';

export function resultWith(parts: Partial<BenchResult>): BenchResult {
  return {
    format: RESULT_FORMAT,
    benchmark: 'bench',
    startedAt: '2026-01-01T00:00:00.000Z',
    machine: { cpus: 2, model: 'any', kernel: 'any', node: 'any' },
    rounds: 1,
    roundSeconds: 1,
    skipped: [],
    scenarios: {},
    units: {},
    tables: {},
    checked: { requests: 0, unique: 0 },
    ...parts,
  };
}

/** A target of one round for its rate, and of one round for each latency. */
export function measured(perSecond: number, p50Us: readonly number[] = [1_000]): Measured {
  const us = figureOf(p50Us);
  return { rate: figureOf([perSecond]), p50Us: us, p99Us: us, cpuUs: {} };
}
