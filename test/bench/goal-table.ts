/** The goals of the first version, for `up` with its agent; ratios are to nginx as reverse proxy in the same run. */
import type { BenchResult } from './bench-result.ts';
import { OPENZITI } from './openziti-peer.ts';

/**
 * Circuits per second that OpenZiti 1.7.2 made on a machine of two cores in an earlier measurement: between 47 and
 * 84. The upper one is what we compare with when no OpenZiti takes part in the run.
 */
export const OPENZITI_CIRCUITS_PER_SECOND = { least: 47, most: 84 };

export interface Goal {
  readonly name: string;
  readonly unit: '×' | 'MB' | 'KiB' | 's';
  readonly limit: number;
  /** `least`: reached when the value is the limit or more. */
  readonly sense: 'least' | 'most';
  value(result: BenchResult, shape: string): number | undefined;
}

const ratio =
  (scenario: string, field: 'rate' | 'p50Us' | 'p99Us') =>
  (result: BenchResult, shape: string): number | undefined => {
    const ours = result.scenarios[scenario]?.[shape]?.[field]?.median;
    const peer = result.scenarios[scenario]?.['nginx proxy']?.[field]?.median;
    return ours === undefined || peer === undefined ? undefined : ours / peer;
  };

/** The best round of each side: with one connection the middle one says where the scheduler put the processes. */
const bestRatio = (result: BenchResult, shape: string): number | undefined => {
  const ours = result.scenarios['one connection']?.[shape]?.p50Us?.min;
  const peer = result.scenarios['one connection']?.['nginx proxy']?.p50Us?.min;
  return ours === undefined || peer === undefined ? undefined : ours / peer;
};

export const GOALS: readonly Goal[] = [
  {
    name: 'requests/s, 32 connections',
    unit: '×',
    limit: 0.5,
    sense: 'least',
    value: ratio('keep-alive', 'rate'),
  },
  { name: 'p50, one connection', unit: '×', limit: 5, sense: 'most', value: bestRatio },
  { name: 'p99, 32 connections', unit: '×', limit: 3, sense: 'most', value: ratio('keep-alive', 'p99Us') },
  {
    name: 'new connections/s',
    unit: '×',
    limit: 0.3,
    sense: 'least',
    value: ratio('new connections', 'rate'),
  },
  {
    name: "circuits/s, to OpenZiti's in this run",
    unit: '×',
    limit: 5,
    sense: 'least',
    value: (result, shape) => {
      const [ours, theirs] = [circuitRate(result, shape), circuitRate(result, OPENZITI)];
      return ours === undefined || theirs === undefined ? undefined : ours / theirs;
    },
  },
  {
    name: `circuits/s, to OpenZiti's ${OPENZITI_CIRCUITS_PER_SECOND.most}/s of an earlier run`,
    unit: '×',
    limit: 5,
    sense: 'least',
    value: (result, shape) => {
      const rate = circuitRate(result, shape);
      if (rate === undefined || circuitRate(result, OPENZITI) !== undefined) return undefined;
      return rate / OPENZITI_CIRCUITS_PER_SECOND.most;
    },
  },
  { name: '100 MB download', unit: '×', limit: 0.3, sense: 'least', value: ratio('download', 'rate') },
  {
    name: 'memory of up, idle',
    unit: 'MB',
    limit: 200,
    sense: 'most',
    value: (result, shape) => megabytes(result.shapes[shape]?.idleBytes['up']),
  },
  {
    name: 'memory of the agent, idle',
    unit: 'MB',
    limit: 90,
    sense: 'most',
    value: (result, shape) => megabytes(result.shapes[shape]?.idleBytes['agent']),
  },
  {
    name: 'memory per idle client connection',
    unit: 'KiB',
    limit: 24,
    sense: 'most',
    value: (result, shape) => {
      const bytes = result.shapes[shape]?.bytesPerIdleConnection;
      return bytes === undefined ? undefined : bytes / 1024;
    },
  },
  {
    name: 'start to first request, state present',
    unit: 's',
    limit: 3,
    sense: 'most',
    value: (result, shape) => {
      const ms = result.shapes[shape]?.firstRequestMs;
      return ms === undefined ? undefined : ms / 1000;
    },
  },
];

function circuitRate(result: BenchResult, target: string): number | undefined {
  return result.scenarios['circuits']?.[target]?.rate.median;
}

function megabytes(bytes: number | undefined): number | undefined {
  return bytes === undefined ? undefined : bytes / 1e6;
}

export function isReached(goal: Goal, value: number): boolean {
  return goal.sense === 'least' ? value >= goal.limit : value <= goal.limit;
}
