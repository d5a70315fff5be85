import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLog } from '#base';
import { ChangeFeed } from './change-feed.ts';
import { concerns, EVERYTHING, type Change } from './store.ts';

const share = (id: string): Change => ({ entity: 'share', id });

describe('the change feed', () => {
  it('reports changes during a round in one next round, in order, each once', async () => {
    const feed = new ChangeFeed(silentLog);
    const rounds: string[][] = [];
    const gate = Promise.withResolvers<void>();
    feed.onChange(async (changes) => {
      rounds.push(changes.map(({ id }) => id));
      if (rounds.length === 1) await gate.promise;
    });
    const first = feed.notify([share('a')]);
    await Promise.resolve();
    const later = [feed.notify([share('b'), share('c')]), feed.notify([share('b')])];
    gate.resolve();
    await Promise.all([first, ...later]);
    assert.deepEqual(rounds, [['a'], ['b', 'c']]);
    await feed.close();
  });

  it('repeats to a failed listener that anything may have changed, until it succeeds', async () => {
    const feed = new ChangeFeed(silentLog);
    const received: (readonly Change[])[] = [];
    const others: (readonly Change[])[] = [];
    const recovered = Promise.withResolvers<void>();
    feed.onChange((changes) => {
      received.push(changes);
      if (received.length < 3) throw new Error('the store is away');
      recovered.resolve();
    });
    feed.onChange((changes) => void others.push(changes));
    await feed.notify([share('a')]);
    await recovered.promise;
    assert.deepEqual(received, [[share('a')], [EVERYTHING], [EVERYTHING]]);
    await feed.notify([share('b')]);
    assert.deepEqual(received.at(-1), [share('b')]);
    assert.deepEqual(others, [[share('a')], [share('b')]]);
    await feed.close();
  });

  it('concerns every listener when anything may have changed', () => {
    assert.ok(concerns([EVERYTHING], 'caller'));
    assert.ok(concerns([share('a'), { entity: 'caller', id: 'b' }], 'caller', 'organization'));
    assert.ok(!concerns([share('a')], 'caller'));
  });
});
