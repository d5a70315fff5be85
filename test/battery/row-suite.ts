/** Rows as tests, in their quick form, over one product that is started for all of them. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { startBatteryProduct, type BatteryProduct } from './battery-product.ts';
import type { BatteryRow } from './battery-row.ts';
import { TEST_SEED } from '../support/test-seed.ts';

/** Starts a product before the tests of the suite or file that calls this, and stops it after them. */
export function useProduct(): () => BatteryProduct {
  let product: BatteryProduct | undefined;
  before(async () => (product = await startBatteryProduct({ isCollected: true })));
  after(() => product?.stop());
  return () => product!;
}

/** `product` is one that other suites use, too. Without it the rows have one of their own, if any row needs it. */
export function testRows(rows: readonly BatteryRow[], product?: () => BatteryProduct): void {
  const seed = TEST_SEED;
  const isNeeded = rows.some(({ hasOwnProduct }) => hasOwnProduct !== true);
  const given = product ?? (isNeeded ? useProduct() : undefined);
  for (const row of rows) {
    it(`${row.id}: ${row.title}`, async (test) => {
      const note = (line: string): void => test.diagnostic(line);
      const progress = (line: string): void => console.log(`${row.id}: ${line}`);
      const started = given?.();
      const tally = await row.run({ quick: true, seed, note, progress }, started!);
      test.diagnostic(tally.line(row.id, seed));
      assert.deepEqual(tally.problems, []);
      assert.ok(tally.isGood);
    });
  }
}
