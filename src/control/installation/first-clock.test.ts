// The clock of a first start, compared with that of a real PostgreSQL server.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ManualClock } from '#base';
import { describeEachStore } from '../store/engine/each-store-suite.ts';
import { checkFirstClock } from './first-clock.ts';

const MINUTE_MS = 60_000;
const YEAR_MS = 365 * 86_400_000;

describeEachStore('the clock of a first start', (open) => {
  const checked = async (nowMs: number, isFirst = true): Promise<void> => {
    const store = await open();
    try {
      if (!isFirst)
        await store.db.insertInto('organization').values({ id: 'org', name: 'org', created_at: 1 }).execute();
      await checkFirstClock(store, new ManualClock(nowMs));
    } finally {
      await store.close();
    }
  };

  it('may differ from that of the database server by minutes', async () => {
    for (const apartMs of [0, 4 * MINUTE_MS, -4 * MINUTE_MS]) await checked(Date.now() + apartMs);
  });

  it('is refused before this program was made, with both times', () =>
    assert.rejects(checked(0), /says 1970-01-01T00:00:00.000Z, and this program was made after 2026-/));

  it('is refused with both times where the server has another one; an embedded database has no other clock', async () => {
    for (const apartMs of [YEAR_MS, 6 * MINUTE_MS]) {
      const nowMs = Date.now() + apartMs;
      const own = new Date(nowMs).toISOString();
      let isShared = false;
      const store = await open();
      try {
        ({ isShared } = store);
      } finally {
        await store.close();
      }
      const outcome = await checked(nowMs).then(
        () => '',
        (error: Error) => error.message,
      );
      if (!isShared) assert.equal(outcome, '');
      else {
        assert.ok(outcome.includes(own), outcome);
        const server = Date.parse(/that of the database server says (\S+):/.exec(outcome)![1]!);
        assert.ok(Math.abs(server - Date.now()) < 2 * MINUTE_MS, outcome);
      }
    }
  });

  it('is compared at the first start only', () => checked(Date.now() + YEAR_MS, false));
});
