/**
 * The traffic reports of gateways for `POST /gateway/v1/metrics`: counts per share since the last report, in
 * numbered batches, so that a repeated batch counts once. Pure. The Management API defines the meaning of the
 * numbers.
 */
import { LATENCY_BUCKETS, latencyCount, type LatencyHistogram } from './latency-histogram.ts';

/** The time resolution of traffic. */
export const TRAFFIC_SPAN_MS = 10_000;
/** Keeps the largest possible report below the edge API's limit of 1 MiB. */
export const MAX_TRAFFIC_SAMPLES = 250;
/** Far above any real count, and low enough that sums of samples stay exact in a number. */
export const MAX_TRAFFIC_REQUESTS = 2 ** 42;
export const MAX_TRAFFIC_BYTES = Number.MAX_SAFE_INTEGER;

export interface TrafficReport {
  /** Identifies one process of a gateway. */
  readonly source: string;
  /** Counts from 1 in each process. The next batch follows only after this one was acknowledged. */
  readonly batch: number;
  readonly samples: readonly TrafficSample[];
}

export interface TrafficCounts {
  readonly requests: number;
  /**
   * Responses with status 500 and above, and requests without a complete response although their client waited
   * for it.
   */
  readonly errors: number;
  /** Bytes of bodies, and of data after an upgrade. */
  readonly bytesIn: number;
  readonly bytesOut: number;
  /** From the end of the request's head to the last byte of its response, for answered requests only. */
  readonly latency: LatencyHistogram;
}

export interface TrafficSample extends TrafficCounts {
  /** Start of a span in Unix milliseconds. */
  readonly startsAt: number;
  readonly shareId: string;
  readonly environmentId: string;
  readonly frontdoorId: string;
}

const REPORT_FIELDS = ['source', 'batch', 'samples'];
const SAMPLE_FIELDS = [
  ...['startsAt', 'shareId', 'environmentId', 'frontdoorId'],
  ...['requests', 'errors', 'bytesIn', 'bytesOut', 'latency'],
];

/** Returns the checked report, or a text with its problem. */
export function parseTrafficReport(value: unknown): TrafficReport | string {
  if (!isRecordOf(value, REPORT_FIELDS)) return `a report has exactly ${REPORT_FIELDS.join(', ')}`;
  const { source, batch, samples } = value;
  if (typeof source !== 'string' || !/^[\w-]{8,64}$/.test(source)) return 'source is not a short text';
  if (!isCount(batch, Number.MAX_SAFE_INTEGER) || batch === 0) return 'batch is not a number from 1';
  if (!Array.isArray(samples) || samples.length === 0 || samples.length > MAX_TRAFFIC_SAMPLES)
    return `samples are not 1 to ${MAX_TRAFFIC_SAMPLES}`;
  for (const [i, sample] of samples.entries()) {
    const problem = sampleProblem(sample);
    if (problem !== undefined) return `samples.${i}: ${problem}`;
  }
  return { source, batch, samples: samples as TrafficSample[] };
}

function sampleProblem(value: unknown): string | undefined {
  if (!isRecordOf(value, SAMPLE_FIELDS)) return `a sample has exactly ${SAMPLE_FIELDS.join(', ')}`;
  const { startsAt, shareId, environmentId, frontdoorId, requests, errors, bytesIn, bytesOut, latency } =
    value;
  if (!isCount(startsAt, Number.MAX_SAFE_INTEGER) || startsAt % TRAFFIC_SPAN_MS !== 0)
    return `startsAt is not a multiple of ${TRAFFIC_SPAN_MS}`;
  for (const id of [shareId, environmentId, frontdoorId]) {
    if (typeof id !== 'string' || !/^[\x21-\x7e]{1,64}$/.test(id)) return 'an id is not a short text';
  }
  if (!isCount(requests, MAX_TRAFFIC_REQUESTS)) return 'requests is not a count';
  if (!isCount(errors, requests)) return 'errors is not a count of some of the requests';
  if (!isCount(bytesIn, MAX_TRAFFIC_BYTES) || !isCount(bytesOut, MAX_TRAFFIC_BYTES))
    return 'bytes are not a count';
  if (!isHistogram(latency) || latencyCount(latency) > requests)
    return 'latency is not a histogram of some of the requests';
  return undefined;
}

function isHistogram(value: unknown): value is LatencyHistogram {
  if (!Array.isArray(value) || value.length % 2 !== 0 || value.length > 2 * LATENCY_BUCKETS) return false;
  for (let i = 0; i < value.length; i += 2) {
    const [before, bucket, count] = [i === 0 ? -1 : (value[i - 2] as number), value[i], value[i + 1]];
    if (!isCount(bucket, LATENCY_BUCKETS - 1) || bucket <= before) return false;
    if (!isCount(count, MAX_TRAFFIC_REQUESTS) || count === 0) return false;
  }
  return true;
}

function isCount(value: unknown, most: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most;
}

function isRecordOf(value: unknown, fields: readonly string[]): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const names = Object.keys(value);
  return names.length === fields.length && fields.every((field) => Object.hasOwn(value, field));
}
