import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definedFields } from './defined-fields.ts';

test('fields that are undefined are left out, and all others stay in their order', () => {
  const fields = definedFields({ a: 0, b: undefined, c: null, d: '', e: false });
  assert.deepEqual(Object.entries(fields), [
    ['a', 0],
    ['c', null],
    ['d', ''],
    ['e', false],
  ]);
});
