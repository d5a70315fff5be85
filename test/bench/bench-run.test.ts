import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BenchOptions } from './bench-options.ts';
import { BenchRun, causesOf, type Rounds } from './bench-run.ts';

const OPTIONS: BenchOptions = {
  isQuick: true,
  isBusy: false,
  rounds: 2,
  roundSeconds: 5,
  singleRounds: 2,
  only: undefined,
  cpuProfileDir: undefined,
  compare: undefined,
  chosen: {},
};

const TARGETS = ['a', 'b'].map((name) => ({ name, processes: new Map([['self', process.pid]]) }));

function runWith(options: Partial<BenchOptions> = {}): BenchRun {
  return new BenchRun({ ...OPTIONS, ...options }, '/nowhere', 3, () => {});
}

/** The executed runs, as `target seconds`. */
async function order(run: BenchRun, rounds?: Rounds): Promise<string[]> {
  const ran: string[] = [];
  await run.measure(
    'any',
    'request',
    TARGETS,
    async ({ name }, seconds, metered) => {
      await metered(async () => ran.push(`${name} ${seconds}`));
      return { units: 1, perSecond: ran.length };
    },
    rounds,
  );
  return ran;
}

test('every target is warmed up, then the rounds are interleaved; the warm-up does not count', async () => {
  const run = runWith();
  assert.deepEqual(await order(run), ['a 15', 'b 15', 'a 5', 'b 5', 'b 5', 'a 5']);
  const { scenarios, units } = run.result('bench');
  assert.deepEqual(scenarios['any']!['a']!.rate.samples, [3, 6]);
  assert.deepEqual(Object.keys(scenarios['any']!['a']!.cpuUs), ['self']);
  assert.deepEqual(units, { any: 'request' });
});

test('a scenario may have rounds of its own, and no warm-up', async () => {
  assert.deepEqual(await order(runWith(), { rounds: 1, seconds: 1, warmUpSeconds: 0 }), ['a 1', 'b 1']);
});

test('a scenario that was not asked for is neither run nor in the result', async () => {
  const run = runWith({ only: 'other' });
  assert.deepEqual(await order(run), []);
  assert.deepEqual(run.result('bench').scenarios, {});
});

test('a load that fails names scenario and target, and keeps its cause', async () => {
  const failing = runWith().measure('any', 'request', TARGETS, () => Promise.reject(new Error('404')));
  await assert.rejects(failing, (error) => {
    assert.deepEqual(causesOf(error), ['any: a failed', '404']);
    return true;
  });
});

test('what cannot be had is skipped with its reason, and the run continues', async () => {
  const run = runWith();
  const failed = new Error('no answer', { cause: new Error('connection refused') });
  assert.equal(await run.attempt('session', () => Promise.reject(failed)), undefined);
  assert.deepEqual(run.skipped, ['session (no answer: connection refused)']);
});

test('what was started ends in reverse order, also when one of them fails to end', async () => {
  const run = runWith();
  const ended: number[] = [];
  run.defer(async () => void ended.push(1));
  run.defer(() => Promise.reject(new Error('stuck')));
  run.defer(async () => void ended.push(3));
  await run.close();
  assert.deepEqual(ended, [3, 1]);
});

test('what a part of the run has started ends with the part, also when that fails', async () => {
  const run = runWith();
  const ended: string[] = [];
  const startThing = (name: string) => ({ name, stop: async () => ended.push(name) });
  run.keep(startThing('whole run'));
  const part = run.part(async () => {
    assert.equal(run.keep(startThing('part')).name, 'part');
    throw new Error('failed');
  });
  await assert.rejects(part, /failed/);
  assert.deepEqual(ended, ['part']);
  await run.close();
  assert.deepEqual(ended, ['part', 'whole run']);
});
