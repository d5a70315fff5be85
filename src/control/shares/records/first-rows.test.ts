import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ManualClock } from '#base';
import { ephemeralSecrets } from '../../secrets/key-file.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import type { Database } from '../../store/mod.ts';
import { seedFirstRows } from './first-rows.ts';

describeEachStore('the first start', (open) => {
  const options = { zone: 'share.localhost', clock: new ManualClock() };
  const filled: Partial<Record<keyof Database, number>> = {
    organization: 1,
    frontdoor: 1,
    api_account: 1,
    oauth_client: 1,
    frontend: 1,
    signing_key: 1,
  };

  it('fills an empty database once, and keeps no secret in clear', async () => {
    const store = await open();
    const secrets = ephemeralSecrets();
    const starts = await Promise.all([1, 2, 3].map(() => seedFirstRows(store, secrets, options)));
    const [first, ...others] = starts.filter((start) => start !== undefined);
    assert.ok(first !== undefined && others.length === 0);
    assert.equal(await seedFirstRows(store, secrets, options), undefined);
    for (const [table, count] of Object.entries(filled)) {
      const rows = await store.db
        .selectFrom(table as keyof Database)
        .selectAll()
        .execute();
      assert.equal(rows.length, count, table);
      const text = JSON.stringify(rows);
      assert.ok(!text.includes(first.apiToken) && !text.includes(first.clientSecret));
      assert.ok(!text.includes('PRIVATE KEY'));
    }
    await store.close();
  });

  it('is refused with another key file', async () => {
    const store = await open();
    await seedFirstRows(store, ephemeralSecrets(), options);
    await assert.rejects(seedFirstRows(store, ephemeralSecrets(), options), {
      kind: 'invalid',
      code: 'key-file',
    });
    await store.close();
  });
});
