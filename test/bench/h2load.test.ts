import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleOf } from './h2load.ts';

const REPORT = `finished in 2.01s, 1000.50 req/s, 1.2MB/s
requests: 2001 total, 2321 started, 2001 done, 2001 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 2001 2xx, 0 3xx, 0 4xx, 0 5xx
`;

test('the report of h2load is read, and every error in it is one of the run', () => {
  assert.deepEqual(sampleOf(REPORT, 2), { units: 2001, perSecond: 1000.5 });
  for (const [from, to] of [
    ['0 failed', '1 failed'],
    ['0 5xx', '1 5xx'],
    ['2001 succeeded', '1999 succeeded'],
    ['requests:', 'no'],
  ] as const)
    assert.throws(() => sampleOf(REPORT.replace(from, to), 2), /h2load met errors/);
});
