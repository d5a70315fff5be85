import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { silentLog } from '#base';
import { GroupKeeper } from './group-keeper.ts';

const TYPES = [
  { type: 'link.default', desired: 2, min: 1 },
  { type: 'link.ack', desired: 1, min: 0 },
];

/** A keeper on a clock of the test's; `fails` says whether the next dials do. */
function keep(t: TestContext, { startupDelayMs = 0 } = {}) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const counts = new Map([['link.default', 1]]);
  const dialed: string[] = [];
  const state = { fails: false };
  const keeper = new GroupKeeper({
    types: TYPES,
    startupDelayMs,
    log: silentLog,
    countOf: (type) => counts.get(type) ?? 0,
    join: (type) => {
      dialed.push(type);
      if (state.fails) return Promise.reject(new Error('refused'));
      counts.set(type, (counts.get(type) ?? 0) + 1);
      return Promise.resolve();
    },
  });
  const pass = async (ms: number): Promise<string[]> => {
    t.mock.timers.tick(ms);
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
    return dialed.splice(0);
  };
  const lose = (type: string, livedMs: number): void => {
    counts.set(type, counts.get(type)! - 1);
    keeper.onLost(livedMs);
  };
  return { keeper, state, pass, lose };
}

describe('a group of connections', () => {
  test('is completed after the startup delay, one after another', async (t) => {
    const { pass } = keep(t, { startupDelayMs: 3_000 });
    assert.deepEqual(await pass(2_999), []);
    assert.deepEqual(await pass(1), ['link.default', 'link.ack']);
    assert.deepEqual(await pass(600_000), []);
  });

  test('gets what it lost at once', async (t) => {
    const { pass, lose } = keep(t);
    await pass(0);
    lose('link.ack', 60_000);
    assert.deepEqual(await pass(0), ['link.ack']);
  });

  test('waits 2 s longer after each failure, and no longer than a minute', async (t) => {
    const { pass, lose, state } = keep(t);
    await pass(0);
    state.fails = true;
    lose('link.ack', 60_000);
    assert.deepEqual(await pass(0), ['link.ack']);
    for (let failures = 1; failures <= 40; failures += 1) {
      const delayMs = Math.min(2_000 * failures, 60_000);
      assert.deepEqual(await pass(delayMs - 1), [], `after ${failures} failures`);
      assert.deepEqual(await pass(1), ['link.ack']);
    }
    state.fails = false;
    assert.deepEqual(await pass(60_000), ['link.ack']);
    assert.deepEqual(await pass(600_000), []);
  });

  test('counts connections that the peer soon ends again as failures', async (t) => {
    const { pass, lose } = keep(t);
    await pass(0);
    for (const delayMs of [2_000, 4_000, 6_000]) {
      lose('link.default', 100);
      assert.deepEqual(await pass(delayMs - 1), []);
      assert.deepEqual(await pass(1), ['link.default']);
    }
  });

  test('no longer dials once it is closed', async (t) => {
    const { pass, lose, keeper } = keep(t);
    await pass(0);
    keeper.close();
    lose('link.ack', 60_000);
    assert.deepEqual(await pass(600_000), []);
  });
});
