import assert from 'node:assert/strict';
import { it } from 'node:test';
import { silentLog } from '#base';
import type { LoggedRequest } from '#domain/gateway-shapes';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';
import { DEFAULT_REQUEST_LOG, putRequestLogSetting } from '../records/request-log-setting-store.ts';
import { loggedOf } from './request-log-fixture.ts';
import { dueRequestLogs, putLoggedRequests, requestLogUsage } from '../records/request-log-store.ts';
import { RequestLogSweep } from '../records/request-log-sweep.ts';

describeEachStore('request logs', (open) => {
  async function withWorld(work: (world: ApiWorld) => Promise<void>): Promise<void> {
    const world = await openApiWorld({ open });
    try {
      await work(world);
    } finally {
      await world.close();
    }
  }
  const put = (world: ApiWorld, records: readonly LoggedRequest[]): Promise<void> =>
    putLoggedRequests(world.store, {
      records,
      gatewayId: 'gateway',
      shareOf: (shareId) =>
        shareId === 'gone' ? undefined : { frontdoorId: world.first.frontdoorId, token: 'app' },
      nowMs: world.clock.nowMs(),
    });
  const ids = async ({ store }: ApiWorld): Promise<string[]> =>
    (await store.db.selectFrom('logged_request').select('id').orderBy('at').orderBy('id').execute()).map(
      ({ id }) => id,
    );

  it('take each entry once, none of a deleted share, and count what they hold', () =>
    withWorld(async (world) => {
      const odd = loggedOf('entry-2', { identity: 'a\u0000b\uD800', path: 'x'.repeat(512) });
      const records = [loggedOf('entry-1'), odd, loggedOf('entry-3', { shareId: 'gone' })];
      await put(world, records);
      await put(world, records);
      assert.deepEqual(await ids(world), ['entry-1', 'entry-2']);
      const usage = await requestLogUsage(world.store.db, world.first.frontdoorId);
      assert.equal(usage.entries, 2);
      assert.ok(usage.bytes > 900 && usage.bytes < 2_000, String(usage.bytes));
    }));

  it('remove the oldest of the larger class beyond the limit, so that each has half of it', () =>
    withWorld(async (world) => {
      const { frontdoorId } = world.first;
      await putRequestLogSetting(world.store.db, frontdoorId, { ...DEFAULT_REQUEST_LOG, maxEntries: 10 });
      const of = (kind: string, count: number, more: Partial<LoggedRequest>) =>
        Array.from({ length: count }, (_, i) =>
          loggedOf(`${kind}-${String(i).padStart(4, '0')}`, { at: 1_700_000_000_000 + i, ...more }),
        );
      await put(world, of('refused', 3, { outcome: 'refused', status: 403 }));
      await put(world, of('served', 400, {}));
      assert.deepEqual(
        (await ids(world)).toSorted(),
        [0, 1, 2].map((i) => `refused-000${i}`).concat([3, 4, 5, 6, 7, 8, 9].map((i) => `served-039${i}`)),
      );
      await put(world, of('flood', 400, { outcome: 'refused', status: 429 }));
      const kept = await ids(world);
      assert.equal(kept.filter((id) => id.startsWith('served')).length, 5);
      assert.equal(kept.length, 10);
      await putRequestLogSetting(world.store.db, frontdoorId, { ...DEFAULT_REQUEST_LOG, maxBytes: 1_000 });
      await put(world, [loggedOf('entry-new')]);
      const { bytes, entries } = await requestLogUsage(world.store.db, frontdoorId);
      assert.ok(bytes <= 1_000 && entries > 0, `${bytes} bytes`);
    }));

  it('lose expired entries, all when they are disabled, and all with their frontdoor', () =>
    withWorld(async (world) => {
      const { frontdoorId } = world.first;
      const nowMs = world.clock.nowMs();
      const sweep = new RequestLogSweep({ store: world.store, clock: world.clock, log: silentLog });
      await put(world, [
        loggedOf('entry-old', { at: nowMs - 86_401_000 }),
        loggedOf('entry-recent', { at: nowMs - 86_000_000 }),
      ]);
      await sweep.sweep();
      assert.deepEqual(await ids(world), ['entry-recent']);
      await putRequestLogSetting(world.store.db, frontdoorId, { ...DEFAULT_REQUEST_LOG, isEnabled: false });
      await put(world, [loggedOf('entry-unwanted')]);
      await sweep.sweep();
      assert.deepEqual(await ids(world), []);
      assert.deepEqual(await requestLogUsage(world.store.db, frontdoorId), { entries: 0, bytes: 0 });
      await putLoggedRequests(world.store, {
        records: [loggedOf('entry-orphan', { at: nowMs })],
        gatewayId: 'gateway',
        shareOf: () => ({ frontdoorId: 'deleted', token: 'app' }),
        nowMs,
      });
      await sweep.sweep();
      await sweep.close();
      assert.deepEqual(await ids(world), []);
    }));

  it('are swept in the order of how long their oldest entry has expired', () =>
    withWorld(async (world) => {
      const nowMs = world.clock.nowMs();
      const [first, last] = [world.first.frontdoorId, world.other.frontdoorId].toSorted() as [string, string];
      for (const [frontdoorId, ms] of [
        [first, 1_000],
        [last, 2_000],
      ] as const)
        await putLoggedRequests(world.store, {
          records: [loggedOf(`entry-${ms}`, { at: nowMs - 86_400_000 - ms })],
          gatewayId: 'gateway',
          shareOf: () => ({ frontdoorId, token: 'app' }),
          nowMs,
        });
      const due = await dueRequestLogs(world.store.db, nowMs, 1);
      assert.deepEqual(
        due.map(({ frontdoorId }) => frontdoorId),
        [last],
      );
    }));
});
