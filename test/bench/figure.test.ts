import assert from 'node:assert/strict';
import { test } from 'node:test';
import { figureOf, interleave, latencyOf, percentile } from './figure.ts';

test('a figure is the median with its least and most', () => {
  const { median, min, max } = figureOf([5, 1, 9]);
  assert.deepEqual({ median, min, max }, { median: 5, min: 1, max: 9 });
  assert.equal(figureOf([4, 2, 8, 6]).median, 5);
  assert.throws(() => figureOf([]), RangeError);
});

test('rounds are interleaved, every second one backwards', async () => {
  const order: string[] = [];
  const results = await interleave(['a', 'b', 'c'], 3, (name, round) => {
    order.push(name);
    return Promise.resolve(round);
  });
  assert.equal(order.join(''), 'abccbaabc');
  assert.deepEqual(results.get('b'), [0, 1, 2]);
});

test('latencies of any order have a median and a 99th percentile; of none both are 0', () => {
  assert.deepEqual(latencyOf([10, 9, 2]), { p50Us: 9, p99Us: 10 });
  assert.deepEqual(latencyOf([]), { p50Us: 0, p99Us: 0 });
});

test('a percentile is a value of the ascending list; of none it is 0', () => {
  assert.equal(percentile([1, 2, 3, 4], 0.5), 3);
  assert.equal(percentile([1, 2, 3, 4], 1), 4);
  assert.equal(percentile([], 0.5), 0);
});
