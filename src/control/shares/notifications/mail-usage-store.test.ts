// The bound of mail over control planes, of which one has a wrong clock.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { MAX_RECIPIENTS_AN_HOUR, takeMailAllowance } from './mail-usage-store.ts';

const HOUR_MS = 3_600_000;

describeEachStore('the allowance of mail', (open) => {
  it('holds where two control planes differ by an hour, and begins again in the next one', async () => {
    const store = await open();
    try {
      await store.db.insertInto('organization').values({ id: 'o', name: 'o', created_at: 1 }).execute();
      const take = (nowMs: number) => takeMailAllowance(store.db, 'o', 50, nowMs);
      const presentMs = 1_000 * HOUR_MS;
      let taken = 0;
      for (let round = 0; round < 10; round += 1)
        for (const nowMs of [presentMs, presentMs + HOUR_MS])
          if ((await take(nowMs)) === undefined) taken += 50;
      // The one that is behind began its hour, which ended for the other one.
      assert.ok(taken <= MAX_RECIPIENTS_AN_HOUR + 50, String(taken));
      assert.equal(await take(presentMs + 2 * HOUR_MS), undefined);
      // A clock that was far ahead for a while blocks nobody.
      assert.equal(await take(presentMs + 9_000 * HOUR_MS), undefined);
      for (let round = 0; round < 6; round += 1) assert.equal(await take(presentMs), undefined);
      assert.equal(await take(presentMs), presentMs + HOUR_MS);
    } finally {
      await store.close();
    }
  });
});
