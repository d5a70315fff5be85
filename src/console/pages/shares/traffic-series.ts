/** Traffic as series of numbers, for charts and for the table of the same facts. Pure. */
import type { AnswerOf } from '#contract';

export type ShareSample = AnswerOf<'getShareMetrics'>['samples'][number];

export const CLASSES = ['2xx', '3xx', '4xx', '5xx', 'none'] as const;
export type StatusClass = (typeof CLASSES)[number];

const FIELDS = {
  '2xx': 'status2xx',
  '3xx': 'status3xx',
  '4xx': 'status4xx',
  '5xx': 'status5xx',
} as const;

/** How many requests of a sample got a status of the class; `none`: the client got no response. */
export function countOf(sample: ShareSample, name: StatusClass): number {
  if (name !== 'none') return sample[FIELDS[name]];
  const answered = Object.values(FIELDS).reduce((sum, field) => sum + sample[field], 0);
  return Math.max(0, sample.requests - answered);
}

/** Unix seconds, which charts count in. */
export function timesOf(samples: readonly ShareSample[]): number[] {
  return samples.map(({ timestamp }) => Date.parse(timestamp) / 1_000);
}

/** A latency of a step without requests is no measurement, and leaves a gap. */
export function latenciesOf(samples: readonly ShareSample[], name: 'p50' | 'p95' | 'p99'): (number | null)[] {
  return samples.map(({ requests, latencyMs }) => (requests === 0 ? null : latencyMs[name]));
}

export function mostOf(values: readonly (number | null)[]): number {
  return values.reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
}

/** Milliseconds from one sample to the next; undefined if there is one at most. */
export function stepMsOf(samples: readonly ShareSample[]): number | undefined {
  const [first, second] = samples;
  return first === undefined || second === undefined
    ? undefined
    : Date.parse(second.timestamp) - Date.parse(first.timestamp);
}
