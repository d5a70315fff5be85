import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base62 } from './base62.ts';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function valueOf(text: string): bigint {
  let value = 0n;
  for (const digit of text) value = value * 62n + BigInt(DIGITS.indexOf(digit));
  return value;
}

test('bytes of any length are one number in base 62, without leading zeros', () => {
  let seed = 1;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) & 0xff;
  for (let length = 0; length <= 33; length += 1) {
    const cases = [
      new Uint8Array(length),
      new Uint8Array(length).fill(255),
      new Uint8Array(length).fill(1, -1),
    ];
    for (let i = 0; i < 50; i += 1) cases.push(Uint8Array.from({ length }, random));
    for (const bytes of cases) {
      const text = base62(bytes);
      assert.equal(valueOf(text), BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`));
      assert.match(text, /^(0|[1-9A-Za-z][0-9A-Za-z]*)$/);
    }
  }
  assert.equal(base62(new Uint8Array(16).fill(255)).length, 22);
});
