import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseHeaderLines } from './header-lines.ts';

test('lines are headers, empty lines are nothing, and another form is returned', () => {
  assert.deepEqual(parseHeaderLines('X-A: 1\n\n  x-b :  two words \n'), [
    { name: 'X-A', value: '1' },
    { name: 'x-b', value: 'two words' },
  ]);
  assert.deepEqual(parseHeaderLines('X-Empty:'), [{ name: 'X-Empty', value: '' }]);
  assert.equal(parseHeaderLines('X-A: 1\nno header'), 'no header');
  assert.equal(parseHeaderLines('a b: 1'), 'a b: 1');
});
