import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bodyGap } from './left-out.ts';

const message = (type: string, body: string | null, bodyIsWhole = false) => ({
  headers: type === '' ? [] : [{ name: 'Content-Type', value: type }],
  body,
  bodyIsWhole,
});

test('a body that is not whole has the reason: cut off, secrets that cannot be found, or nothing to keep', () => {
  assert.equal(bodyGap(message('text/plain', 'aGVsbG8=', true)), undefined);
  assert.equal(bodyGap(message('text/plain', null, true)), undefined);
  assert.equal(bodyGap(message('text/plain', 'aGVsbG8=')), 'cut');
  assert.equal(bodyGap(message('application/json; charset=utf-8', null)), 'secrets');
  assert.equal(bodyGap(message('application/x-www-form-urlencoded', null)), 'secrets');
  assert.equal(bodyGap(message('multipart/form-data; boundary=x', null)), 'secrets');
  assert.equal(bodyGap(message('', null)), 'secrets');
  assert.equal(bodyGap(message('image/png', null)), 'not-kept');
});
