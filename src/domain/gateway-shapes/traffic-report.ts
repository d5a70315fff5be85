/**
 * What gateways report of their traffic, at `POST /gateway/v1/metrics`: counts per share since the last report, in
 * numbered batches, so that one that is sent twice counts once. A sample that cannot be read loses itself. Pure; the
 * numbers mean what the Management API says.
 */
import { Part, Shape, Type, type Refinement, type ShapeOf } from '#base/shapes';
import { LATENCY_BUCKETS, latencyCount, type LatencyHistogram } from '../latency-histogram.ts';

const { count, lossyList, number, refined, text } = Part;

/** The time resolution of traffic. */
export const TRAFFIC_SPAN_MS = 10_000;
/** Keeps the largest possible report below the edge API's limit of 1 MiB. */
export const MAX_TRAFFIC_SAMPLES = 250;
/** Far above any real count, and low enough that sums of samples stay exact in a number. */
export const MAX_TRAFFIC_REQUESTS = 2 ** 42;
/** From 2xx to 5xx. */
const STATUS_CLASSES = 4;
export const NO_RESPONSES: readonly number[] = [0, 0, 0, 0];
export const MAX_TRAFFIC_BYTES = Number.MAX_SAFE_INTEGER;

const histogram: Refinement = {
  rule: 'buckets and counts by turns, the buckets ascending and no count zero',
  check(value) {
    const latency = value as LatencyHistogram;
    if (latency.length % 2 !== 0) return false;
    for (let i = 0; i < latency.length; i += 2) {
      const before = i === 0 ? -1 : latency[i - 2]!;
      const bucket = latency[i]!;
      if (bucket >= LATENCY_BUCKETS || bucket <= before || latency[i + 1] === 0) return false;
    }
    return true;
  },
};

/** What holds between the counts of one sample. */
const partsOfRequests: Refinement = {
  rule: 'a sample whose errors, classes and latency are of some of its requests',
  check(value) {
    const { requests, errors, byClass, latency } = value as TrafficCounts;
    const answered = byClass.reduce((sum, each) => sum + each, 0);
    return errors <= requests && answered <= requests && latencyCount(latency) <= requests;
  },
};

const id = () => text(64, '^[\\x21-\\x7e]{1,64}$');

const countFields = {
  requests: count(MAX_TRAFFIC_REQUESTS),
  /**
   * Responses with status 500 and above, and requests without a complete response although their client waited
   * for it.
   */
  errors: count(MAX_TRAFFIC_REQUESTS),
  /** Responses by class of their status: 2xx, 3xx, 4xx and 5xx. Gateways of earlier versions do not report it. */
  byClass: Part.withDefault(
    Type.Array(count(MAX_TRAFFIC_REQUESTS), { minItems: STATUS_CLASSES, maxItems: STATUS_CLASSES }),
    [0, 0, 0, 0],
  ),
  /** Bytes of bodies, and of data after an upgrade. */
  bytesIn: count(MAX_TRAFFIC_BYTES),
  bytesOut: count(MAX_TRAFFIC_BYTES),
  /** From the end of the request's head to the last byte of its response, for answered requests only. */
  latency: refined(Type.Array(count(MAX_TRAFFIC_REQUESTS), { maxItems: 2 * LATENCY_BUCKETS }), histogram),
};
const countsSchema = Type.Object(countFields);
export type TrafficCounts = ShapeOf<typeof countsSchema>;

const sampleSchema = refined(
  Type.Object({
    /** Start of a span in Unix milliseconds. */
    startsAt: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, multipleOf: TRAFFIC_SPAN_MS }),
    shareId: id(),
    environmentId: id(),
    frontdoorId: id(),
    ...countFields,
  }),
  partsOfRequests,
);
export type TrafficSample = ShapeOf<typeof sampleSchema>;

export const trafficReportShape = new Shape(
  Type.Object({
    /** Identifies one process of a gateway. */
    source: text(64, '^[\\w\\-]{8,64}$'),
    /** Counts from 1 in each process. The next batch follows only after this one was acknowledged. */
    batch: number(),
    samples: lossyList('samples', sampleSchema, { minItems: 1, maxItems: MAX_TRAFFIC_SAMPLES }),
  }),
  { name: 'traffic report', format: 1, remedy: 'upgrade the control plane' },
);
export type TrafficReport = ShapeOf<typeof trafficReportShape.schema>;

/** Returns the sums of two counts by class of status, each at most the maximum of a count. */
export function addedByClass(a: readonly number[], b: readonly number[]): number[] {
  return a.map((each, i) => Math.min(each + b[i]!, MAX_TRAFFIC_REQUESTS));
}
