import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LATENCY_BUCKETS } from '../latency-histogram.ts';
import {
  MAX_TRAFFIC_BYTES,
  MAX_TRAFFIC_REQUESTS,
  MAX_TRAFFIC_SAMPLES,
  trafficReportShape,
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
  byClass: [1, 0, 1, 1],
  bytesIn: 10,
  bytesOut: 20,
  latency: [12, 2, 40, 1],
};
const report: TrafficReport = { source: 'process-1', batch: 1, samples: [sample] };

test('a report is taken as it is', () => {
  assert.deepEqual(trafficReportShape.read(report), { value: report, lost: [] });
});

test('the largest report of a gateway stays below 1 MiB', () => {
  const most = {
    ...sample,
    shareId: 's'.repeat(36),
    environmentId: 'e'.repeat(36),
    frontdoorId: 'f'.repeat(36),
    requests: MAX_TRAFFIC_REQUESTS,
    bytesIn: MAX_TRAFFIC_BYTES,
    bytesOut: MAX_TRAFFIC_BYTES,
    latency: Array.from({ length: LATENCY_BUCKETS }, (_, i) => [i, 1_000_000_000]).flat(),
  };
  const largest = { ...report, samples: Array.from({ length: MAX_TRAFFIC_SAMPLES }, () => most) };
  assert.deepEqual(trafficReportShape.read(largest), { value: largest, lost: [] });
  assert.ok(JSON.stringify(largest).length < 1_048_576);
});

test('a report whose own fields are wrong is refused with what is wrong', () => {
  const rows: readonly (readonly [unknown, RegExp])[] = [
    [undefined, /it must be an object/],
    [[], /it must be an object/],
    [{ source: 'process-1', batch: 1 }, /samples must be there/],
    [{ ...report, source: 'short' }, /source/],
    [{ ...report, source: 'with/slash' }, /source/],
    [{ ...report, batch: 0 }, /batch/],
    [{ ...report, batch: 1.5 }, /batch/],
    [{ ...report, batch: '1' }, /batch/],
    [{ ...report, samples: [] }, /samples must be a list of 1 to/],
    [
      { ...report, samples: Array.from({ length: MAX_TRAFFIC_SAMPLES + 1 }, () => sample) },
      /samples must be/,
    ],
  ];
  for (const [value, problem] of rows) {
    const read = trafficReportShape.read(value);
    assert.ok('problem' in read && problem.test(read.problem), JSON.stringify([value, read]));
  }
});

test('a sample that breaks the form loses itself, and names the field', () => {
  const rows: readonly (readonly [unknown, string])[] = [
    [null, ''],
    [{ startsAt: 1_700_000_000_001 }, 'startsAt'],
    [{ startsAt: -10_000 }, 'startsAt'],
    [{ shareId: '' }, 'shareId'],
    [{ environmentId: 'a b' }, 'environmentId'],
    [{ frontdoorId: 'x'.repeat(65) }, 'frontdoorId'],
    [{ requests: -1 }, 'requests'],
    [{ requests: MAX_TRAFFIC_REQUESTS + 1 }, 'requests'],
    [{ errors: 4 }, ''],
    [{ bytesIn: 0.5 }, 'bytesIn'],
    [{ bytesOut: 2 ** 53 }, 'bytesOut'],
    [{ latency: {} }, 'latency'],
    [{ latency: [12] }, 'latency'],
    [{ latency: [12, 0] }, 'latency'],
    [{ latency: [12, 1, 12, 1] }, 'latency'],
    [{ latency: [40, 1, 12, 1] }, 'latency'],
    [{ latency: [LATENCY_BUCKETS, 1] }, 'latency'],
    [{ latency: [12, 4] }, ''],
  ];
  for (const [change, field] of rows) {
    const wrong = change === null ? null : { ...sample, ...change };
    const read = trafficReportShape.read({ ...report, samples: [wrong, sample] });
    assert.ok('value' in read, JSON.stringify([change, read]));
    assert.deepEqual(read.value.samples, [sample]);
    assert.deepEqual(
      read.lost.map(({ index, field: lost }) => [index, lost]),
      [[0, field]],
      JSON.stringify(change),
    );
  }
});

test('fields of a later version are left out', () => {
  const later = { ...report, more: 1, samples: [{ ...sample, more: 1 }] };
  assert.deepEqual(trafficReportShape.read(later), { value: report, lost: [] });
});
