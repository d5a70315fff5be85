import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RouterSilenceMachine, SILENCE_CHECK_MS } from './router-silence-machine.ts';

/** Checks a channel whose last read was at 0, and returns each step that is not to wait, with its time. */
function stepsOf(
  endMs: number,
  { isReachable, readAtMs = Infinity }: { isReachable: (nowMs: number) => boolean; readAtMs?: number },
): [step: string, atMs: number][] {
  const machine = new RouterSilenceMachine(1, 0);
  const steps: [string, number][] = [];
  for (let nowMs = SILENCE_CHECK_MS; nowMs <= endMs; nowMs += SILENCE_CHECK_MS) {
    const step = machine.check(nowMs >= readAtMs ? 2 : 1, nowMs);
    if (step !== 'wait') steps.push([step, nowMs]);
    if (step === 'probe') machine.probed(isReachable(nowMs), nowMs);
    if (step === 'replace') break;
  }
  return steps;
}

test('a silent channel is replaced once another connection has worked for as long as nothing came before', () => {
  assert.deepEqual(stepsOf(10_000, { isReachable: () => true }), [
    ['probe', 2_000],
    ['replace', 4_000],
  ]);
});

test('a channel is kept while the network is away, and for as long afterwards as TCP may need to repeat', () => {
  assert.ok(stepsOf(8_000, { isReachable: () => false }).every(([step]) => step === 'probe'));
  const back = stepsOf(8_000, { isReachable: (nowMs) => nowMs >= 3_000 });
  assert.deepEqual(back.at(-1), ['replace', 6_000]);
  const resumed = stepsOf(7_500, { isReachable: (nowMs) => nowMs >= 3_000, readAtMs: 5_750 });
  assert.ok(resumed.every(([step, atMs]) => step === 'probe' && atMs <= 3_000));
});

test('a process that stood still reads first what came meanwhile', () => {
  const machine = new RouterSilenceMachine(1, 0);
  assert.equal(machine.check(1, 6_000), 'wait');
  assert.equal(machine.check(1, 6_000 + SILENCE_CHECK_MS), 'wait');
});

test('a probe that ends after data came does not count', () => {
  const machine = new RouterSilenceMachine(1, 0);
  for (let nowMs = 250; nowMs < 2_000; nowMs += 250) machine.check(1, nowMs);
  assert.equal(machine.check(1, 2_000), 'probe');
  machine.check(2, 2_250);
  machine.probed(true, 2_400);
  for (let nowMs = 2_500; nowMs < 4_250; nowMs += 250) assert.equal(machine.check(2, nowMs), 'wait');
  assert.equal(machine.check(2, 4_250), 'probe');
});
