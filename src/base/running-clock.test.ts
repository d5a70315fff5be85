import assert from 'node:assert/strict';
import { it } from 'node:test';
import { RunningClock } from './running-clock.ts';

it('a clock of running time goes as the system’s does, and takes a time for which nothing ran as one step', () => {
  let systemMs = 500;
  const clock = new RunningClock(1_000, () => systemMs);
  const read: number[] = [];
  for (const byMs of [0, 250, 1_000, 60_000, 10]) {
    systemMs += byMs;
    read.push(clock.nowMs());
  }
  assert.deepEqual(read, [500, 750, 1_750, 2_750, 2_760]);
});
