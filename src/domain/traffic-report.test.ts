import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LATENCY_BUCKETS } from './latency-histogram.ts';
import {
  MAX_TRAFFIC_BYTES,
  MAX_TRAFFIC_REQUESTS,
  MAX_TRAFFIC_SAMPLES,
  parseTrafficReport,
  type TrafficReport,
  type TrafficSample,
} from './traffic-report.ts';

const sample: TrafficSample = {
  startsAt: 1_700_000_000_000,
  shareId: 'share',
  environmentId: 'environment',
  frontdoorId: 'frontdoor',
  requests: 3,
  errors: 1,
  bytesIn: 10,
  bytesOut: 20,
  latency: [12, 2, 40, 1],
};
const report: TrafficReport = { source: 'process-1', batch: 1, samples: [sample] };

test('a report is taken as it is', () => {
  assert.deepEqual(parseTrafficReport(report), report);
});

test('the largest report of a gateway stays below 1 MiB', () => {
  const most = {
    ...sample,
    ...{ shareId: 's'.repeat(36), environmentId: 'e'.repeat(36), frontdoorId: 'f'.repeat(36) },
    ...{ requests: MAX_TRAFFIC_REQUESTS, bytesIn: MAX_TRAFFIC_BYTES, bytesOut: MAX_TRAFFIC_BYTES },
    latency: Array.from({ length: LATENCY_BUCKETS }, (_, i) => [i, 1_000_000_000]).flat(),
  };
  const largest = { ...report, samples: Array.from({ length: MAX_TRAFFIC_SAMPLES }, () => most) };
  assert.deepEqual(parseTrafficReport(largest), largest);
  assert.ok(JSON.stringify(largest).length < 1_048_576);
});

test('whatever breaks the form is refused with what is wrong', () => {
  const changed = (change: object): unknown => ({ ...report, samples: [{ ...sample, ...change }] });
  const rows: readonly (readonly [unknown, RegExp])[] = [
    [undefined, /exactly source, batch, samples/],
    [[], /exactly/],
    [{ ...report, more: 1 }, /exactly/],
    [{ source: 'process-1', batch: 1 }, /exactly/],
    [{ ...report, source: 'short' }, /source/],
    [{ ...report, source: 'with/slash' }, /source/],
    [{ ...report, batch: 0 }, /batch/],
    [{ ...report, batch: 1.5 }, /batch/],
    [{ ...report, batch: '1' }, /batch/],
    [{ ...report, samples: [] }, /samples are not 1 to/],
    [
      { ...report, samples: Array.from({ length: MAX_TRAFFIC_SAMPLES + 1 }, () => sample) },
      /samples are not/,
    ],
    [{ ...report, samples: [sample, null] }, /^samples\.1: a sample has exactly/],
    [changed({ more: 1 }), /^samples\.0: a sample has exactly/],
    [changed({ startsAt: 1_700_000_000_001 }), /startsAt/],
    [changed({ startsAt: -10_000 }), /startsAt/],
    [changed({ shareId: '' }), /id/],
    [changed({ environmentId: 'a b' }), /id/],
    [changed({ frontdoorId: 'x'.repeat(65) }), /id/],
    [changed({ requests: -1 }), /requests/],
    [changed({ requests: MAX_TRAFFIC_REQUESTS + 1 }), /requests/],
    [changed({ errors: 4 }), /errors/],
    [changed({ bytesIn: 0.5 }), /bytes/],
    [changed({ bytesOut: 2 ** 53 }), /bytes/],
    [changed({ latency: {} }), /latency/],
    [changed({ latency: [12] }), /latency/],
    [changed({ latency: [12, 0] }), /latency/],
    [changed({ latency: [12, 1, 12, 1] }), /latency/],
    [changed({ latency: [40, 1, 12, 1] }), /latency/],
    [changed({ latency: [LATENCY_BUCKETS, 1] }), /latency/],
    [changed({ latency: [12, 4] }), /latency/],
  ];
  for (const [value, says] of rows) {
    const problem = parseTrafficReport(value);
    assert.ok(
      typeof problem === 'string' && says.test(problem),
      `${JSON.stringify(value)}: ${JSON.stringify(problem)}`,
    );
  }
});
