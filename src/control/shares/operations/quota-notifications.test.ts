// Limits that are nearly used, from the look-up to the queue: each crossing is reported once, by one of two control planes.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { silentLog } from '#base';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { QuotaWatch } from '../notifications/mod.ts';
import { MOST_FOUND } from '../notifications/quota-store.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';

interface Delivery {
  readonly type: string;
  readonly data: { readonly resources: readonly Record<string, unknown>[] };
}

describeEachStore('limits', (open) => {
  let world: ApiWorld;
  let watches: QuotaWatch[];
  const ids: string[] = [];

  before(async () => {
    world = await openApiWorld({ open });
    const { store, clock } = world;
    watches = [1, 2].map(() => new QuotaWatch({ store, clock, log: silentLog }));
  });
  after(async () => {
    await Promise.all(watches.map((each) => each.close()));
    await world.close();
  });

  const fill = async (count: number) => {
    while (ids.length < count) {
      const body = { name: 'pager', url: 'https://hooks.example.com/', events: ['quota.reached'] };
      const made = await world.call('POST', '/notification-destinations', { body });
      assert.equal(made.status, 201, made.text);
      ids.push((made.body as { id: string }).id);
    }
    while (ids.length > count) await world.call('DELETE', `/notification-destinations/${ids.pop()!}`);
  };
  /** What the first destination got, the newest first, after two looks of each control plane. */
  const reported = async (): Promise<readonly Record<string, unknown>[]> => {
    for (let look = 0; look < 2; look += 1) {
      await Promise.all(watches.map((each) => each.pass()));
      world.clock.advance(1_000);
    }
    const path = `/notification-destinations/${ids[0]!}/deliveries`;
    const { content } = (await world.call('GET', path)).body as { content: Delivery[] };
    return content.flatMap(({ data }) => data.resources);
  };
  const levels = async () => (await reported()).map(({ percent, used }) => [percent, used]);

  it('are reported once for each crossing, at the higher level if both are crossed at once', async () => {
    await fill(15);
    assert.deepEqual(await levels(), []);
    await fill(16);
    assert.deepEqual(await reported(), [
      { kind: 'quota', id: 'notification-destinations', frontdoorId: null, percent: 80, used: 16, most: 20 },
    ]);
    await fill(19);
    assert.deepEqual(await levels(), [[80, 16]]);
    await fill(20);
    assert.deepEqual(await levels(), [
      [100, 20],
      [80, 16],
    ]);
    await fill(15);
    assert.equal((await levels()).length, 2);
    await fill(20);
    assert.deepEqual((await levels())[0], [100, 20]);
    assert.equal((await levels()).length, 3);
  });

  it('of a frontdoor name it', async () => {
    const { frontdoorId } = world.first;
    const { id: frontendId } = await world.store.db
      .selectFrom('frontend')
      .select('id')
      .executeTakeFirstOrThrow();
    for (let n = 0; n < 80; n += 1) {
      const body = { hostname: `app.n${n}.example`, frontendId };
      const path = `/frontdoor/${frontdoorId}/custom-frontends`;
      const made = await world.call('POST', path, { body });
      assert.equal(made.status, 201, made.text);
    }
    const found = (await reported()).filter(({ id }) => id !== 'notification-destinations');
    assert.deepEqual(
      found.map(({ id, frontdoorId: own, used, most }) => [id, own, used, most]),
      [
        ['custom-frontends', frontdoorId, 80, 100],
        ['unproven-hostnames', null, 80, 100],
      ],
    );
  });

  it('are not reported again while others of many come and go', async () => {
    const { db } = world.store;
    await fill(16);
    const before = (await reported()).length;
    const some = await db.selectFrom('notification_destination').selectAll().executeTakeFirstOrThrow();
    const rowsOf = (organization: string) =>
      Array.from({ length: 16 }, (_, n) => ({
        ...some,
        id: `${organization}-${n}`,
        organization_id: organization,
        events: '',
      }));
    const organizations = Array.from({ length: MOST_FOUND }, (_, n) => `0000-${n}`);
    for (const id of organizations) {
      await db.insertInto('organization').values({ id, name: id, created_at: 1 }).execute();
      await db.insertInto('notification_destination').values(rowsOf(id)).execute();
    }
    await reported();
    await db
      .deleteFrom('notification_destination')
      .where('organization_id', '=', organizations[0]!)
      .execute();
    assert.equal((await reported()).length, before);
  });
});
