import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MOST_AT_ONCE, runEach } from './bulk-run.ts';

describe('a change of many', () => {
  const items = Array.from({ length: 20 }, (_none, at) => at);

  it('has at most four tasks at once, and reports each outcome, also when some fail', async () => {
    let running = 0;
    let most = 0;
    const outcomes = new Map<number, string>();
    const task = async (item: number) => {
      running += 1;
      most = Math.max(most, running);
      await Promise.resolve();
      running -= 1;
      if (item % 3 === 0) throw new Error(`no ${item}`);
      return `yes ${item}`;
    };
    await runEach(
      items,
      task,
      (item, outcome) => outcomes.set(item, outcome.isDone ? outcome.result : outcome.error.message),
      new AbortController().signal,
    );
    assert.equal(most, MOST_AT_ONCE);
    const wanted = items.map((item) => [item, item % 3 === 0 ? `no ${item}` : `yes ${item}`]);
    assert.deepEqual(
      [...outcomes].toSorted(([a], [b]) => a - b),
      wanted,
    );
  });

  it('begins no further task once it is stopped', async () => {
    const stop = new AbortController();
    const begun: number[] = [];
    const reported: number[] = [];
    const task = async (item: number) => {
      begun.push(item);
      if (item === 5) stop.abort();
    };
    await runEach(items, task, (item) => reported.push(item), stop.signal);
    assert.ok(begun.length <= 5 + MOST_AT_ONCE, `${begun.length} tasks`);
    assert.ok(reported.every((item) => item < 5 + MOST_AT_ONCE));
  });
});
