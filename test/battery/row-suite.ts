/** Rows as tests, in their quick form, over one product that is started for all of them. */
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { startBatteryProduct, type BatteryProduct } from './battery-product.ts';
import type { BatteryRow } from './battery-row.ts';

export function testRows(rows: readonly BatteryRow[]): void {
  const seed = Number(process.env['FRONTDOOR_TEST_SEED'] ?? Date.now() >>> 0);
  let product: BatteryProduct;
  before(async () => (product = await startBatteryProduct()));
  after(() => product.stop());
  for (const row of rows) {
    it(`${row.id}: ${row.title}`, async (test) => {
      const tally = await row.run({ quick: true, seed, note: (line) => test.diagnostic(line) }, product);
      test.diagnostic(tally.line(row.id, seed));
      assert.deepEqual(tally.problems, []);
      assert.ok(tally.isGood);
    });
  }
}
