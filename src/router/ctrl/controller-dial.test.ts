import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test, type TestContext } from 'node:test';
import { silentLog, WorkerPool } from '#base';
import type { Channel } from '#net/channel';
import { ControllerDial, type Reception } from './controller-dial.ts';

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

const STEP_MS = 5;
const REDIAL_MS = { min: 50, max: 5_000, factor: 1.5, jitter: 0.3 };

/** A dial with the given result of every attempt. `pass` advances the clock and returns the times of the attempts. */
function openDial(t: TestContext, attempt: () => Reception | Error) {
  let nowMs = 0;
  const attemptsMs: number[] = [];
  const channels: { close: (reason: string) => void }[] = [];
  const gate = new WorkerPool({ name: 'ctrl.dialer', queueLength: 1, workerCount: 1, log: silentLog });
  let reception: Reception | Error;
  const dial = new ControllerDial({
    endpoint: 'tls:controller.example:6262',
    gate,
    log: silentLog,
    nowMs: () => nowMs,
    dial: () => {
      attemptsMs.push(nowMs);
      reception = attempt();
      if (reception instanceof Error) return Promise.reject(reception);
      const channel = { close: () => dial.onClosed('closed') };
      channels.push(channel);
      return Promise.resolve(channel as unknown as Channel);
    },
    onChannel: () => reception as Reception,
  });
  t.after(() => dial.close('test is over'));
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 3; i += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const pass = async (ms: number): Promise<void> => {
    await settle();
    for (const endMs = nowMs + ms; nowMs < endMs;) {
      nowMs += STEP_MS;
      mock.timers.tick(STEP_MS);
      const { length } = attemptsMs;
      if (attemptsMs[length - 1] === nowMs || length === 0) await settle();
      else await Promise.resolve();
    }
    await settle();
  };
  const gaps = (): number[] => attemptsMs.slice(1).map((at, index) => at - attemptsMs[index]!);
  return { dial, attemptsMs, gaps, pass, channels };
}

test('a controller that is away for ten minutes is dialed with growing gaps, and never more than 6.5 s apart', async (t) => {
  const { gaps, pass } = openDial(t, () => new Error('away'));
  await pass(600_000);
  const { min, max, factor, jitter } = REDIAL_MS;
  for (const [index, gap] of gaps().entries()) {
    const plain = Math.min(max, min * factor ** index);
    assert.ok(
      // Each end of a gap is observed up to one step late.
      gap >= plain * (1 - jitter) - 2 * STEP_MS && gap <= plain * (1 + jitter) + 2 * STEP_MS,
      `${index}: ${gap}`,
    );
  }
  assert.ok(gaps().length > 90 && gaps().length < 160, String(gaps().length));
});

test('a channel that closes within 5 s makes the next gap longer, one that stood makes it short again', async (t) => {
  const { attemptsMs, pass, channels } = openDial(t, () => 'taken');
  const closeAfter = async (ms: number): Promise<number> => {
    await pass(ms);
    const { length } = attemptsMs;
    const closedMs = attemptsMs.at(-1)! + ms;
    channels.at(-1)!.close('closed');
    while (attemptsMs.length === length) await pass(STEP_MS);
    return attemptsMs.at(-1)! - closedMs;
  };
  const waits: number[] = [];
  for (let i = 0; i < 10; i += 1) waits.push(await closeAfter(10));
  assert.ok(waits[9]! > 1_000, String(waits));
  assert.ok((await closeAfter(6_000)) < 100);
});

test('a standby endpoint is dialed when it is needed, not before', async (t) => {
  const { dial, attemptsMs, pass } = openDial(t, () => 'standby');
  await pass(60_000);
  assert.equal(attemptsMs.length, 1);
  dial.wake();
  await pass(1_000);
  assert.equal(attemptsMs.length, 2);
});

test('an endpoint that was given up is no longer dialed', async (t) => {
  const { dial, attemptsMs, pass } = openDial(t, () => new Error('away'));
  await pass(1_000);
  const { length } = attemptsMs;
  dial.close('removed');
  dial.wake();
  await pass(60_000);
  assert.equal(attemptsMs.length, length);
});
