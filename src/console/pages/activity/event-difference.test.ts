import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventDifference, nameIn } from './event-difference.ts';

test('only fields whose values differ are shown, nested ones by their path', () => {
  const before = { name: 'app', target: 'http://a', policy: { emails: ['a@x'], expiresAt: null } };
  const after = { name: 'app', target: 'http://b', policy: { emails: ['a@x', 'b@x'], expiresAt: null } };
  assert.deepEqual(eventDifference(before, after), [
    { field: 'policy.emails', before: '["a@x"]', after: '["a@x","b@x"]' },
    { field: 'target', before: 'http://a', after: 'http://b' },
  ]);
});

test('a created or deleted resource shows all of its fields on one side', () => {
  assert.deepEqual(eventDifference(null, { name: 'app', reserved: true }), [
    { field: 'name', before: undefined, after: 'app' },
    { field: 'reserved', before: undefined, after: 'true' },
  ]);
  assert.deepEqual(eventDifference({ name: 'app' }, null), [
    { field: 'name', before: 'app', after: undefined },
  ]);
  assert.deepEqual(eventDifference(null, null), []);
});

test('states of any depth end: deep values are compared as text', () => {
  let deep: unknown = 'x';
  for (let depth = 0; depth < 50; depth += 1) deep = { deep };
  assert.equal(eventDifference(null, deep).length, 1);
});

test('a resource is named by its name, hostname or token, in either state', () => {
  assert.equal(nameIn(null, { name: 'app' }), 'app');
  assert.equal(nameIn({ hostname: 'a.example' }, null), 'a.example');
  assert.equal(nameIn('text', { name: 7 }), undefined);
});
