import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base62 } from './base62.ts';
import { bytesOfHex, concatBytes, EMPTY_BYTES, equalBytes, hexOf } from './bytes.ts';
import { textOf, utf8 } from './text.ts';

test('hexadecimal comes back as the bytes it was made of', () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
  assert.deepEqual(bytesOfHex(hexOf(bytes)), bytes);
  assert.equal(hexOf(Uint8Array.of(0, 0x0a, 0xff)), '000aff');
  assert.deepEqual([...bytesOfHex('0AfF')], [10, 255]);
  for (const wrong of ['0', '0g', ' 00', '0x00']) assert.throws(() => bytesOfHex(wrong), RangeError);
});

test('joined bytes are a copy of all parts in order', () => {
  const first = Uint8Array.of(1, 2);
  const whole = concatBytes([first, EMPTY_BYTES, Uint8Array.of(3)]);
  first[0] = 9;
  assert.deepEqual([...whole], [1, 2, 3]);
  assert.equal(concatBytes([]).length, 0);
});

test('bytes are equal by length and value', () => {
  assert.equal(equalBytes(Uint8Array.of(1, 2), Buffer.from([1, 2])), true);
  assert.equal(equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 2, 0)), false);
  assert.equal(equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 3)), false);
});

test('base 62 is a number of digits and letters, at most 22 of them for 16 bytes', () => {
  assert.equal(base62(Uint8Array.of(0)), '0');
  assert.equal(base62(Uint8Array.of(61)), 'z');
  assert.equal(base62(Uint8Array.of(62)), '10');
  assert.equal(base62(Uint8Array.of(1, 0)), '48');
  const longest = base62(new Uint8Array(16).fill(0xff));
  assert.equal(longest, '7n42DGM5Tflk9n8mt7Fhc7');
  assert.match(longest, /^[0-9A-Za-z]{22}$/);
});

test('text is UTF-8, and malformed bytes become replacement characters', () => {
  assert.equal(hexOf(utf8('é€')), 'c3a9e282ac');
  assert.equal(textOf(utf8('é€😀')), 'é€😀');
  assert.equal(textOf(Uint8Array.of(0x61, 0xff)), 'a\ufffd');
});
