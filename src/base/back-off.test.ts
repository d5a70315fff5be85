import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BackOff } from './back-off.ts';

test('delays grow from the least by the factor up to the most, and begin again after a success', () => {
  const backOff = new BackOff({ minMs: 100, maxMs: 1_000, factor: 3, jitter: 0 });
  assert.deepEqual(
    [1, 2, 3, 4, 5].map(() => backOff.next()),
    [100, 300, 900, 1_000, 1_000],
  );
  assert.equal(backOff.attempts, 5);
  backOff.reset();
  assert.deepEqual([backOff.attempts, backOff.next()], [0, 100]);
});

test('jitter spreads a delay to both sides by its share', () => {
  const options = { minMs: 1_000, maxMs: 1_000, factor: 2, jitter: 0.25 };
  assert.equal(new BackOff(options, () => 0).next(), 750);
  assert.equal(new BackOff(options, () => 0.5).next(), 1_000);
  assert.equal(new BackOff(options, () => 1).next(), 1_250);
});

test('any number of attempts leaves a finite delay', () => {
  const backOff = new BackOff({ minMs: 50, maxMs: 5_000, factor: 1.5, jitter: 0 });
  for (let i = 0; i < 5_000; i += 1) assert.ok(backOff.next() <= 5_000);
});
