/** Rows as tests, in their quick form, over one product that is started for all of them. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { startBatteryProduct, type BatteryProduct } from './battery-product.ts';
import type { BatteryRow } from './battery-row.ts';
import { TEST_SEED } from '../support/test-seed.ts';

export function testRows(rows: readonly BatteryRow[]): void {
  const seed = TEST_SEED;
  let product: BatteryProduct | undefined;
  before(async () => (product = await startBatteryProduct({ isCollected: true })));
  after(() => product?.stop());
  for (const row of rows) {
    it(`${row.id}: ${row.title}`, async (test) => {
      const note = (line: string): void => test.diagnostic(line);
      const progress = (line: string): void => console.log(`${row.id}: ${line}`);
      const tally = await row.run({ quick: true, seed, note, progress }, product!);
      test.diagnostic(tally.line(row.id, seed));
      assert.deepEqual(tally.problems, []);
      assert.ok(tally.isGood);
    });
  }
}
