import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BatchedLookup } from './batched-lookup.ts';
import { RememberedLookup } from './remembered-lookup.ts';
import type { Change } from './store.ts';

type Listener = (changes: readonly Change[]) => Promise<void> | void;

function fakeStore(isShared: boolean) {
  const listeners: Listener[] = [];
  return {
    isShared,
    onChange: (listener: Listener) => void listeners.push(listener),
    notify: (entity: Change['entity']) => {
      for (const listener of listeners) void listener([{ entity, id: 'x' }]);
    },
  };
}

describe('lookups in batches', () => {
  it('ask once for what is asked for together, and again for what comes while they run', async () => {
    const asked: string[][] = [];
    const gates: PromiseWithResolvers<void>[] = [];
    const lookup = new BatchedLookup<string, string>(async (keys) => {
      asked.push([...keys]);
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      await gate.promise;
      return new Map(keys.filter((key) => key !== 'absent').map((key) => [key, `value of ${key}`]));
    });
    const first = [lookup.find('a'), lookup.find('b'), lookup.find('a'), lookup.find('absent')];
    await new Promise(setImmediate);
    const second = lookup.find('a');
    await new Promise(setImmediate);
    assert.deepEqual(asked, [['a', 'b', 'absent'], ['a']]);
    for (const { resolve } of gates) resolve();
    assert.deepEqual(await Promise.all(first), ['value of a', 'value of b', 'value of a', undefined]);
    assert.equal(await second, 'value of a');
  });

  it('run two at a time, and report a failure to every caller', async () => {
    const gates: PromiseWithResolvers<void>[] = [];
    const lookup = new BatchedLookup<number, number>(async () => {
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      await gate.promise;
      throw new Error('away');
    });
    const answers: Promise<number | undefined>[] = [];
    for (let n = 0; n < 4; n += 1) {
      answers.push(lookup.find(n));
      await new Promise(setImmediate);
    }
    assert.equal(gates.length, 2);
    const refused = Promise.all(answers.map((answer) => assert.rejects(answer, { message: 'away' })));
    for (let n = 0; n < gates.length; n += 1) {
      gates[n]!.resolve();
      await new Promise(setImmediate);
    }
    await refused;
    assert.equal(gates.length, 3);
  });
});

describe('remembered lookups', () => {
  it('remember what is there and what is not until a change that concerns them', async () => {
    const store = fakeStore(false);
    let asked = 0;
    const lookup = new RememberedLookup<string>(store, ['caller'], async (keys) => {
      asked += 1;
      return new Map(keys.filter((key) => key === 'a').map((key) => [key, `${key}${asked}`]));
    });
    assert.equal(await lookup.find('a'), 'a1');
    assert.equal(await lookup.find('b'), undefined);
    assert.equal(lookup.find('a'), 'a1');
    assert.equal(lookup.find('b'), undefined);
    store.notify('share');
    assert.equal(lookup.find('a'), 'a1');
    assert.equal(asked, 2);
    store.notify('caller');
    assert.equal(await lookup.find('a'), 'a3');
  });

  it('do not remember an answer that a change overtook', async () => {
    const store = fakeStore(false);
    const gate = Promise.withResolvers<void>();
    let value = 'old';
    const lookup = new RememberedLookup<string>(store, ['caller'], async (keys) => {
      const read = value;
      await gate.promise;
      return new Map(keys.map((key) => [key, read]));
    });
    const early = lookup.find('a');
    await new Promise(setImmediate);
    value = 'new';
    store.notify('caller');
    gate.resolve();
    assert.equal(await early, 'old');
    assert.equal(await lookup.find('a'), 'new');
  });

  it('remember nothing of a database that others write too', async () => {
    let asked = 0;
    const lookup = new RememberedLookup<string>(fakeStore(true), ['caller'], async (keys) => {
      asked += 1;
      return new Map(keys.map((key) => [key, String(asked)]));
    });
    assert.equal(await lookup.find('a'), '1');
    assert.equal(await lookup.find('a'), '2');
  });
});
