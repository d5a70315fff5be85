import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEdgeFixture } from './edge-api-fixture.ts';

test('the time and the address of the last call of an agent are kept, at the latest when the API closes', async () => {
  const fixture = await openEdgeFixture();
  try {
    const startMs = fixture.clock.nowMs();
    const agent = await fixture.enroll('seen');
    const idle = await fixture.enroll('idle');
    await agent.client.services();
    await fixture.api.close();
    const rows = await fixture.store.db
      .selectFrom('identity')
      .select(['id', 'last_seen_at', 'remote_address'])
      .execute();
    const contact = (id: string) => rows.find((row) => row.id === id);
    const seenAtMs = contact(agent.id)?.last_seen_at ?? 0;
    assert.ok(seenAtMs >= startMs && seenAtMs <= fixture.clock.nowMs());
    assert.match(contact(agent.id)?.remote_address ?? '', /127\.0\.0\.1$/);
    assert.deepEqual([contact(idle.id)?.last_seen_at, contact(idle.id)?.remote_address], [null, null]);
  } finally {
    await fixture.close();
  }
});
