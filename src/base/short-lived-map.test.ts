import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ShortLivedMap } from './short-lived-map.ts';
import { newNumber, ShortLivedSet } from './short-lived-set.ts';

test('a map has what was added and not removed, in the order of addition', () => {
  const map = new ShortLivedMap<string, { at: number }>();
  for (const [at, key] of ['a', 'b', 'c', 'd'].entries()) map.set(key, { at });
  assert.deepEqual([map.delete('b'), map.delete('b'), map.delete('x')], [true, false, false]);
  map.set('c', { at: 9 });
  assert.deepEqual([...map.values()], [{ at: 0 }, { at: 9 }, { at: 3 }]);
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].filter((key) => map.has(key)),
    ['a', 'c', 'd'],
  );
  assert.deepEqual([map.size, map.get('c'), map.get('b'), map.has('d')], [3, { at: 9 }, undefined, true]);
  map.clear();
  assert.deepEqual([map.size, map.get('a'), [...map.values()]], [0, undefined, []]);
});

test('values that are removed or added while others are read are left out or follow', () => {
  const map = new ShortLivedMap<number, { at: number }>();
  for (let at = 0; at < 3; at += 1) map.set(at, { at });
  const read: number[] = [];
  for (const { at } of map.values()) {
    read.push(at);
    if (at === 0) {
      map.delete(1);
      map.set(3, { at: 3 });
    }
  }
  assert.deepEqual(read, [0, 2, 3]);
});

test('a set has each member once, until it is removed', () => {
  const [one, two] = [{ number: newNumber() }, { number: newNumber() }];
  const set = new ShortLivedSet<{ readonly number: number }>();
  for (const member of [one, two, one]) set.add(member);
  assert.deepEqual([set.size, [...set], set.has(two)], [2, [one, two], true]);
  assert.deepEqual([set.delete(one), set.delete(one), set.has(one)], [true, false, false]);
  set.clear();
  assert.deepEqual([set.size, [...set]], [0, []]);
});
