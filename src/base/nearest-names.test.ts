import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nearestNames } from './nearest-names.ts';

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
