// Agents that are lost and come back at random, in one process with a manual clock: the short form of `chaos hosts`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TEST_SEED } from '../../support/test-seed.ts';
import { simulateHosts } from '../../support/host-simulation.ts';

const FAULTS = 100;
/** They found terminators that were deleted for good, and probes that were led to a host of the past, in so many faults. */
const KEPT_SEEDS: readonly (readonly [seed: number, faults: number])[] = [
  [3, 15],
  [22, 36],
];

test('a share whose agent is connected answers each dial, and its status is true', async () => {
  for (const [seed, faults] of [...KEPT_SEEDS, [TEST_SEED, FAULTS] as const]) {
    const { problems, checked } = await simulateHosts(seed, faults);
    assert.deepEqual(problems, []);
    assert.ok(checked > 5 * faults, `only ${checked} dials were checked`);
  }
});
