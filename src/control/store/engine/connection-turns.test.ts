import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ConnectionTurns } from './connection-turns.ts';

describe('turns at connections', () => {
  it('are taken at once while there are any, then in the order of asking', async () => {
    const turns = new ConnectionTurns(2);
    assert.deepEqual([turns.take(), turns.take()], [undefined, undefined]);
    const order: number[] = [];
    const waiting = [1, 2, 3].map(async (i) => {
      await turns.take();
      order.push(i);
      turns.give();
    });
    assert.deepEqual(order, []);
    turns.give();
    await Promise.all(waiting);
    assert.deepEqual(order, [1, 2, 3]);
    assert.equal(turns.take(), undefined);
  });

  it('are refused when too many wait, and the waiting ones keep their places', async () => {
    const turns = new ConnectionTurns(1);
    assert.equal(turns.take(), undefined);
    const waiting = Array.from({ length: 20_000 }, async () => turns.take());
    assert.throws(() => turns.take(), { kind: 'unavailable', message: /too many statements waiting/ });
    for (let i = 0; i < waiting.length; i += 1) turns.give();
    await Promise.all(waiting);
    turns.give();
    assert.equal(turns.take(), undefined);
  });

  it('that do not come in time are refused', async (test) => {
    test.mock.timers.enable({ apis: ['setInterval'] });
    let nowMs = 0;
    test.mock.method(performance, 'now', () => nowMs);
    const turns = new ConnectionTurns(1);
    assert.equal(turns.take(), undefined);
    const late = assert.rejects(turns.take()!, { kind: 'unavailable', message: /in time/ });
    nowMs = 15_001;
    test.mock.timers.tick(1_000);
    await late;
    turns.give();
    assert.equal(turns.take(), undefined);
  });
});
