import assert from 'node:assert/strict';
import { test } from 'node:test';
import { misspelledName, nearestNames } from './nearest-names.ts';

test('the names that need the fewest changes come first, whatever their case', () => {
  const known = ['endpoint', 'endpoints', 'options', 'bind'];
  assert.deepEqual(nearestNames('endpiont', known, 2), ['endpoint', 'endpoints']);
  assert.deepEqual(nearestNames('BIND', known, 1), ['bind']);
  assert.deepEqual(nearestNames('anything', [], 3), []);
});

test('a name of any length is answered at once', () => {
  const before = process.cpuUsage();
  nearestNames('x'.repeat(1_000_000), ['endpoint', 'options'], 1);
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 5_000_000, `${user + system} µs`);
});

test('a misspelled name is one with few other letters', () => {
  const known = ['listeners', 'link', 'web', 'v'];
  for (const [name, meant] of [
    ['listners', 'listeners'],
    ['Listener', 'listeners'],
    ['lnk', 'link'],
    ['webs', 'web'],
    ['ha', undefined],
    ['lnkk2', undefined],
    ['anything', undefined],
  ] as const)
    assert.equal(misspelledName(name, known), meant, name);
});
