import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AttemptLimits } from './attempt-limits.ts';

const RATE = { attempts: 4, perMs: 1_000 };

function failAll(limits: AttemptLimits, target: string, source: string, nowMs: number): number {
  let failed = 0;
  while (limits.waitMs(target, source, RATE, nowMs) === 0) {
    limits.failed(target, source, RATE, nowMs);
    failed += 1;
  }
  return failed;
}

test('a source may fail a number of times at a target, and then as often as the rate allows', () => {
  const limits = new AttemptLimits();
  assert.equal(failAll(limits, 'share', 'address', 0), 4);
  assert.equal(limits.waitMs('share', 'address', RATE, 0), 250);
  assert.equal(limits.waitMs('share', 'address', RATE, 100), 150);
  assert.equal(failAll(limits, 'share', 'address', 500), 2);
  assert.equal(failAll(limits, 'share', 'address', 60_000), 4, 'never more at once');
});

test('failures at one target refuse nothing at another, nor from another source', () => {
  const limits = new AttemptLimits();
  failAll(limits, 'share b', 'address', 0);
  assert.equal(limits.waitMs('share a', 'address', RATE, 0), 0);
  assert.equal(limits.waitMs('share b', 'other', RATE, 0), 0);
});

test('a failure that was none is taken back', () => {
  const limits = new AttemptLimits();
  for (let i = 0; i < 20; i += 1) {
    limits.failed('share', 'address', RATE, 0);
    limits.takeBack('share', 'address', RATE);
  }
  assert.equal(failAll(limits, 'share', 'address', 0), 4);
});

test('a clock that is set back makes nobody wait for the time that it lost', () => {
  const limits = new AttemptLimits();
  failAll(limits, 'share', 'address', 3_600_000);
  assert.equal(limits.waitMs('share', 'address', RATE, 0), 0);
  assert.equal(failAll(limits, 'share', 'address', 0), 4);
});

test('a flood of sources resets no count, takes no more memory, and touches its own target alone', () => {
  const limits = new AttemptLimits(1_000);
  for (let i = 0; i < 20; i += 1) failAll(limits, 'mine', `parked ${i}`, 0);
  for (let i = 0; i < 50_000; i += 1) limits.failed('flooded', `source ${i}`, RATE, 0);
  assert.equal(limits.size, 1_000);
  for (let i = 0; i < 20; i += 1)
    assert.ok(limits.waitMs('mine', `parked ${i}`, RATE, 0) > 0, 'still counted');
  assert.ok(limits.waitMs('flooded', 'a new source', RATE, 0) > 0, 'the flooded one shares what is left');
  assert.equal(limits.waitMs('mine', 'a new source', RATE, 0), 0);
  assert.equal(failAll(limits, 'mine', 'a new source', 0), 4);
});

test('once failures are forgiven, new sources are counted by themselves again', () => {
  const limits = new AttemptLimits(100);
  for (let i = 0; i < 1_000; i += 1) limits.failed('flooded', `source ${i}`, RATE, 0);
  for (let i = 0; i < 50; i += 1) assert.equal(failAll(limits, 'flooded', `later ${i}`, 2_000), 4);
  assert.equal(limits.size, 100);
});
