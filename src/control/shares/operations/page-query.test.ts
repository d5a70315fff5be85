// The query of lists, for what no list's own tests ask.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePageRequest } from './page-query.ts';

test('a size above the maximum is the maximum, however long it is written', () => {
  for (const size of ['1001', '1'.repeat(26), '9'.repeat(4_000)]) {
    assert.equal(parsePageRequest({ size }).size, 1_000, size.slice(0, 30));
  }
  assert.equal(parsePageRequest({ size: '007' }).size, 7);
});

test('absent parameters have their defaults, and a list is sorted upwards by default', () => {
  assert.deepEqual(parsePageRequest({}), { page: 0, size: 20, sort: 'default', direction: 'asc' });
  assert.deepEqual(parsePageRequest({ sort: 'name' }), { ...parsePageRequest({}), sort: 'name' });
  assert.equal(parsePageRequest({ sort: 'name,desc' }).direction, 'desc');
});
