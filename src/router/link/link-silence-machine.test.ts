import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LinkSilenceMachine, type SilenceStep } from './link-silence-machine.ts';

/** Returns the step of each second; `receivedAt` returns the count of received frames at that time. */
function seconds(count: number, receivedAt: (second: number) => number, isPaused = false): SilenceStep[] {
  const machine = new LinkSilenceMachine(0);
  return Array.from({ length: count }, (_, second) =>
    machine.check(1_000 * second, receivedAt(second), isPaused),
  );
}

test('a link from which nothing comes is probed after four seconds, and silent once after twelve', () => {
  const steps = seconds(60, () => 7);
  assert.equal(steps.indexOf('probe'), 4);
  assert.equal(steps.indexOf('silent'), 12);
  assert.equal(steps.filter((step) => step === 'silent').length, 1);
  assert.ok(steps.filter((step) => step === 'probe').length >= 20, 'and asked on');
});

test('anything that comes proves a link, however slow its answers are', () => {
  for (const everyS of [1, 5, 10]) {
    const steps = seconds(300, (second) => Math.floor(second / everyS));
    assert.ok(!steps.includes('silent'), `something each ${everyS} s`);
  }
});

test('a link that comes back may fall silent again', () => {
  const steps = seconds(60, (second) => (second < 20 ? 1 : 2));
  assert.deepEqual(
    steps.flatMap((step, second) => (step === 'silent' ? [second] : [])),
    [12, 32],
  );
});

test('silence is not counted while this side does not read', () => {
  assert.ok(seconds(60, () => 1, true).every((step) => step === 'none'));
});
