// Sizes and times, as people read them in their language.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatOf } from './format.ts';

test('sizes have a unit in the number of their value', () => {
  const [en, de] = [formatOf('en'), formatOf('de')];
  assert.deepEqual(
    [0, 1, 75, 1_500, 2_000_000].map((size) => en.bytes(size)),
    ['0 bytes', '1 byte', '75 bytes', '1.5 kB', '2 MB'],
  );
  assert.deepEqual(
    [1, 75, 1_500].map((size) => de.bytes(size).replaceAll('\u00A0', ' ')),
    ['1 Byte', '75 Byte', '1,5 kB'],
  );
});
