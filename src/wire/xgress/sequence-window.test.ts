import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/support/fast-check.ts';
import { SequenceWindow } from './sequence-window.ts';

test('it has the contents of a map, for any order of removal and any gaps between numbers', () => {
  const step = fc.oneof(
    fc.record({ gap: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ take: fc.integer({ min: 0, max: 400 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const window = new SequenceWindow<string>();
      const map = new Map<number, string>();
      let next = 0;
      for (const one of steps) {
        if ('gap' in one) {
          next += one.gap;
          window.add(next, `v${next}`);
          map.set(next, `v${next}`);
        } else {
          assert.equal(window.take(one.take), map.get(one.take));
          map.delete(one.take);
        }
        assert.equal(window.size, map.size);
      }
      assert.deepEqual([...window.values()], [...map.values()]);
    }),
  );
});

test('behind one that never leaves it takes any number more, and finds each', () => {
  const window = new SequenceWindow<number>();
  const count = 20_000;
  for (let i = 0; i < count; i += 1) window.add(i, i);
  for (let i = 1; i < count; i += 1) assert.equal(window.take(i), i);
  assert.deepEqual([...window.values()], [0]);
  window.add(count, count);
  assert.equal(window.take(0), 0);
  assert.equal(window.take(count), count);
  assert.equal(window.size, 0);
  window.add(count + 1, 7);
  assert.deepEqual([...window.values()], [7]);
});

test('cleared, it is empty and takes numbers from anywhere', () => {
  const window = new SequenceWindow<number>();
  for (let i = 0; i < 100; i += 1) window.add(i, i);
  window.clear();
  assert.equal(window.size, 0);
  assert.equal(window.take(5), undefined);
  window.add(1_000_000, 1);
  assert.equal(window.take(1_000_000), 1);
});
