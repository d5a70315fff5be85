import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PrometheusText } from '../../../test/support/prometheus-text.ts';
import { Exposition } from './exposition.ts';

test('labels and help with quotes, backslashes and line ends read back as they were', () => {
  const to = new Exposition();
  const odd = 'a "quoted" \\ and\na second line';
  to.family('frontdoor_things', 'gauge', `Things with ${odd} in their help text`, [[{ name: odd }, 3]]);
  const text = new PrometheusText(to.toString());
  assert.equal(text.value('frontdoor_things', { name: odd }), 3);
  assert.equal(
    text.helps.get('frontdoor_things'),
    `Things with a "quoted" \\\\ and\\na second line in their help text`,
  );
});

test('buckets of a histogram are added up, and its count is that of the last one', () => {
  const to = new Exposition();
  to.histogram(
    'frontdoor_wait_seconds',
    'Seconds that something took',
    [0.1, 1],
    [[{ phase: 'a' }, { counts: [1, 2, 3], sum: 9 }]],
  );
  const text = new PrometheusText(to.toString());
  const bucket = (le: string): number | undefined =>
    text.value('frontdoor_wait_seconds_bucket', { phase: 'a', le });
  assert.deepEqual([bucket('0.1'), bucket('1'), bucket('+Inf')], [1, 3, 6]);
  assert.deepEqual(
    [text.value('frontdoor_wait_seconds_sum'), text.value('frontdoor_wait_seconds_count')],
    [9, 6],
  );
});

test('a summary has its quantiles, its sum and its count', () => {
  const to = new Exposition();
  const reading = {
    quantiles: [
      ['0.5', 1],
      ['0.99', 7],
    ],
    sum: 12,
    count: 4,
  } as const;
  to.summary('frontdoor_size_bytes', 'Bytes of something that comes', [[{ link: 'l1' }, reading]]);
  const text = new PrometheusText(to.toString());
  assert.equal(text.types.get('frontdoor_size_bytes'), 'summary');
  assert.equal(text.value('frontdoor_size_bytes', { link: 'l1', quantile: '0.99' }), 7);
  assert.equal(text.value('frontdoor_size_bytes_count', { link: 'l1' }), 4);
});

test('a family without samples is left out, and infinity is written as Prometheus has it', () => {
  const to = new Exposition();
  to.family('frontdoor_unknown', 'gauge', 'Something that is not known', []);
  to.one('frontdoor_limit', 'gauge', 'A limit that there is not', Infinity);
  assert.equal(
    to.toString(),
    '# HELP frontdoor_limit A limit that there is not\n# TYPE frontdoor_limit gauge\nfrontdoor_limit +Inf\n',
  );
});
