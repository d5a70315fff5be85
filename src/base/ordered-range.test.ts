import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../test/support/fast-check.ts';
import { orderedRange } from './ordered-range.ts';

const ascending = (a: number, b: number): number => a - b;

test('a range is what the sorted items have there, also with equal items and beyond the end', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 })), fc.nat(30), fc.nat(30), (items, from, size) => {
      const expected = items.toSorted(ascending).slice(from, from + size);
      assert.deepEqual(orderedRange([...items], ascending, from, from + size), expected);
    }),
  );
});

test('a range of many items takes a few comparisons for each, in any order of theirs', () => {
  const count = 20_000;
  const orders: readonly ((n: number) => number)[] = [
    (n) => n,
    (n) => -n,
    () => 1,
    (n) => n % 2,
    (n) => n % 97,
  ];
  for (const order of orders) {
    const items = Array.from({ length: count }, (_, n) => order(n));
    let comparisons = 0;
    orderedRange(items, (a, b) => ((comparisons += 1), a - b), 10_000, 10_020);
    assert.ok(comparisons < 20 * count, String(comparisons));
  }
});
