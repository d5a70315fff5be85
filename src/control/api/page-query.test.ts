// The query of lists, for what no list's own tests ask.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePageRequest } from './page-query.ts';

const code = 'invalid_request';

test('a size above the maximum is the maximum, however long it is written', () => {
  for (const size of ['1001', '1'.repeat(26), '9'.repeat(4_000)]) {
    assert.equal(parsePageRequest({ size }).size, 1_000, size.slice(0, 30));
  }
  assert.equal(parsePageRequest({ size: '007' }).size, 7);
});

test('a page that no list can have, and what is no integer, are refused', () => {
  for (const page of ['1000000001', '9'.repeat(400), '-1', '1.0', '1e3', '', ' 1', '٣']) {
    assert.throws(() => parsePageRequest({ page }), { code }, page.slice(0, 30));
  }
  for (const size of ['0', '00', '-0', '+1', '0x10'])
    assert.throws(() => parsePageRequest({ size }), { code }, size);
});
