import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeTyped } from './merge-typed.ts';

test('typed fields stay, the others get the newer state', () => {
  const before = { name: 'a', role: 'reader', limits: { idle: '1', total: '5' }, ids: ['x'] };
  const typed = { ...before, name: 'mine', limits: { idle: '2', total: '5' } };
  const now = { name: 'theirs', role: 'editor', limits: { idle: '1', total: '9' }, ids: ['x', 'y'] };
  assert.deepEqual(mergeTyped(before, typed, now), {
    name: 'mine',
    role: 'editor',
    limits: { idle: '2', total: '9' },
    ids: ['x', 'y'],
  });
});

test('a list is one value, and removed and added fields stay so', () => {
  assert.deepEqual(mergeTyped({ ids: ['a'] }, { ids: [] as string[] }, { ids: ['a', 'b'] }), { ids: [] });
  const [before, now]: Record<string, string>[] = [{ old: '1' }, { old: '2', other: '3' }];
  assert.deepEqual(mergeTyped(before, { mine: '1' }, now), { mine: '1', other: '3' });
});
