import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RouterSilenceMachine, SILENCE_CHECK_MS } from './router-silence-machine.ts';

/** Checks a channel whose last read was at 0, and returns each step that is not to wait, with its time. */
function stepsOf(endMs: number, isReachable: (nowMs: number) => boolean): [step: string, atMs: number][] {
  const machine = new RouterSilenceMachine(1, 0);
  const steps: [string, number][] = [];
  for (let nowMs = SILENCE_CHECK_MS; nowMs <= endMs; nowMs += SILENCE_CHECK_MS) {
    const step = machine.check(1, nowMs);
    if (step !== 'wait') steps.push([step, nowMs]);
    if (step === 'probe') machine.probed(isReachable(nowMs), nowMs);
    if (step === 'replace') break;
  }
  return steps;
}

test('a channel from which nothing comes is replaced when another connection to the router is made', () => {
  assert.deepEqual(
    stepsOf(10_000, () => true),
    [
      ['probe', 2_000],
      ['replace', 2_250],
    ],
  );
});

test('it is kept while the network is away, and replaced as soon as that is back', () => {
  assert.ok(stepsOf(8_000, () => false).every(([step]) => step === 'probe'));
  assert.deepEqual(stepsOf(8_000, (nowMs) => nowMs >= 4_000).at(-1), ['replace', 4_250]);
});

test('a process that stood still reads first what came in the meantime', () => {
  const machine = new RouterSilenceMachine(1, 0);
  assert.equal(machine.check(1, 6_000), 'wait');
  assert.equal(machine.check(1, 6_000 + SILENCE_CHECK_MS), 'wait');
});

test('a channel from which something comes after the probe is kept', () => {
  const machine = new RouterSilenceMachine(1, 0);
  for (let nowMs = 250; nowMs < 2_000; nowMs += 250) machine.check(1, nowMs);
  assert.equal(machine.check(1, 2_000), 'probe');
  machine.probed(true, 2_100);
  assert.equal(machine.check(2, 2_250), 'wait');
  for (let nowMs = 2_500; nowMs < 4_250; nowMs += 250) assert.equal(machine.check(2, nowMs), 'wait');
  assert.equal(machine.check(2, 4_250), 'probe');
});
