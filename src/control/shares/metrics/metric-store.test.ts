import assert from 'node:assert/strict';
import { afterEach, beforeEach, it } from 'node:test';
import { latencyPercentile } from '#domain';
import { MAX_TRAFFIC_BYTES, MAX_TRAFFIC_REQUESTS, type TrafficCounts } from '#domain/gateway-shapes';
import { ManualClock, silentLog } from '#base';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import type { GrantedFrontdoor } from '../records/frontdoor-store.ts';
import type { Store } from '../../store/mod.ts';
import { addFrontdoor, addShare, reportOf, sampleOf, type Place } from './metric-fixture.ts';
import { BusiestCache } from './busiest-cache.ts';
import {
  busiestLines,
  environmentLines,
  environmentTraffic,
  frontdoorLine,
  frontdoorTraffic,
  sumOf,
} from './metric-reader.ts';
import { takeTrafficReport } from './metric-store.ts';
import { MetricSweep } from './metric-sweep.ts';
import { metricWindow, sparklineWindow } from './metric-window-policy.ts';
import { ROLLUPS } from './rollup-table.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Five seconds into a span. */
const NOW_MS = Date.UTC(2026, 2, 14, 15, 9, 25);
const SPAN_MS = NOW_MS - 5_000;

describeEachStore('traffic reports', (open) => {
  let store: Store;
  let frontdoor: GrantedFrontdoor;
  let app: Place;

  beforeEach(async () => {
    store = await open();
    frontdoor = await addFrontdoor(store);
    app = await addShare(store, frontdoor);
  });
  afterEach(() => store.close());

  const take = (report: Parameters<typeof takeTrafficReport>[2], source = 'gateway/1', nowMs = NOW_MS) =>
    takeTrafficReport(store, source, report, nowMs);
  const totals = async (durationMs = HOUR_MS, nowMs = NOW_MS): Promise<TrafficCounts> =>
    sumOf(await frontdoorTraffic(store.db, frontdoor, metricWindow(durationMs, undefined, nowMs)));
  const rowCount = async (): Promise<number> =>
    (await store.db.selectFrom('metric_rollup').select('scope_id').execute()).length;

  it('of the busiest shares are ranked once in twenty seconds for all who ask, and again after an error', async () => {
    const clock = new ManualClock();
    const cache = new BusiestCache(clock);
    const window = metricWindow(HOUR_MS, undefined, NOW_MS);
    const first = cache.of(store.db, frontdoor, window, 5);
    assert.deepEqual(await first, []);
    await take(reportOf(1, sampleOf(app, SPAN_MS)));
    clock.advance(19_999);
    assert.equal(cache.of(store.db, frontdoor, window, 5), first);
    const other = (await cache.of(store.db, frontdoor, window, 4)).map(({ token }) => token);
    clock.advance(1);
    const again = await cache.of(store.db, frontdoor, window, 5);
    assert.deepEqual([other, again.map(({ token }) => token)], [['app'], ['app']]);
    const broken = { selectFrom: () => assert.fail('no database') } as unknown as Store['db'];
    clock.advance(20_000);
    await assert.rejects(cache.of(broken, frontdoor, window, 5), /no database/);
    assert.equal((await cache.of(store.db, frontdoor, window, 5)).length, 1);
  });

  it('add up in each roll-up of the share, its environment and its frontdoor', async () => {
    const other = await addShare(store, frontdoor, 'other');
    const taken = await take(
      reportOf(
        1,
        sampleOf(app, SPAN_MS, {
          requests: 3,
          errors: 1,
          bytesIn: 5,
          bytesOut: 7,
          latency: [10, 2, 40, 1],
          byClass: [1, 0, 1, 1],
        }),
        sampleOf(app, SPAN_MS - 10_000, { byClass: [1, 0, 0, 0], latency: [10, 1] }),
        sampleOf(other, SPAN_MS, { latency: [40, 1] }),
      ),
    );
    assert.deepEqual(taken, { isDuplicate: false, missing: 0, unknown: 0 });
    const sum = {
      requests: 5,
      errors: 1,
      bytesIn: 25,
      bytesOut: 207,
      latency: [10, 3, 40, 2],
      byClass: [2, 0, 1, 1],
    };
    for (const durationMs of [300_000, HOUR_MS, DAY_MS, 30 * DAY_MS]) {
      assert.deepEqual(await totals(durationMs), sum);
    }
    const window = metricWindow(HOUR_MS, 10_000, NOW_MS);
    const steps = await environmentTraffic(store.db, frontdoor, app.environmentId, window);
    assert.deepEqual(
      steps.map(({ requests }) => requests),
      [...Array.from({ length: 358 }, () => 0), 1, 3],
    );
    const rows = await store.db
      .selectFrom('metric_rollup')
      .select(['scope', 'requests'])
      .where('resolution_ms', '=', DAY_MS)
      .orderBy('scope')
      .orderBy('requests')
      .execute();
    assert.deepEqual(
      rows.map(({ scope, requests }) => [scope, requests]),
      [
        ['environment', 1],
        ['environment', 4],
        ['frontdoor', 5],
        ['share', 1],
        ['share', 4],
      ],
    );
  });

  it('count once, however often and however simultaneously a batch comes', async () => {
    const report = reportOf(1, sampleOf(app, SPAN_MS));
    const answers = await Promise.all(Array.from({ length: 8 }, () => take(report)));
    assert.equal(answers.filter(({ isDuplicate }) => !isDuplicate).length, 1);
    assert.equal((await take(report)).isDuplicate, true);
    assert.equal((await totals()).requests, 1);
    // Another process of the gateway has numbers of its own.
    assert.equal((await take(report, 'gateway/2')).isDuplicate, false);
    assert.equal((await totals()).requests, 2);
  });

  it('show how many batches are missing, and a late batch is not counted', async () => {
    const report = (batch: number) => reportOf(batch, sampleOf(app, SPAN_MS));
    assert.equal((await take(report(1))).missing, 0);
    assert.equal((await take(report(4))).missing, 2);
    assert.equal((await take(report(5))).missing, 0);
    assert.equal((await take(report(3))).isDuplicate, true);
    assert.equal((await totals()).requests, 3);
  });

  it('of many gateways about the same spans at the same time lose nothing, latencies neither', async () => {
    const places = [
      app,
      await addShare(store, frontdoor, 'second'),
      await addShare(store, frontdoor, 'third'),
    ];
    const gateways = 8;
    const batches = 5;
    await Promise.all(
      Array.from({ length: gateways }, async (_, gateway) => {
        for (let batch = 1; batch <= batches; batch += 1) {
          const samples = places.flatMap((place) => [
            sampleOf(place, SPAN_MS, { requests: 2, latency: [10, 1, 60 + gateway, 1] }),
            sampleOf(place, SPAN_MS - 10_000),
          ]);
          // Each in another order, which must not cause a deadlock.
          const turned = [...samples.slice(gateway % 6), ...samples.slice(0, gateway % 6)];
          await take(reportOf(batch, ...turned), `gateway-${gateway}/1`);
        }
      }),
    );
    const times = gateways * batches * places.length;
    const { requests, bytesOut, latency } = await totals();
    assert.deepEqual([requests, bytesOut], [3 * times, 200 * times]);
    const each = Array.from({ length: gateways }, (_, gateway) => [60 + gateway, batches * places.length]);
    assert.deepEqual(latency, [10, times, 20, times, ...each.flat()]);
  });

  it('that come late count wherever they are still kept', async () => {
    const ages = [60_000, 7 * HOUR_MS, 4 * DAY_MS, 46 * DAY_MS, 401 * DAY_MS];
    for (const [i, ageMs] of ages.entries()) {
      await take(reportOf(i + 1, sampleOf(app, SPAN_MS - ageMs)));
    }
    const kept = await store.db
      .selectFrom('metric_rollup')
      .select(['resolution_ms', 'starts_at'])
      .where('scope', '=', 'share')
      .execute();
    const counts = ROLLUPS.map(
      ({ spanMs }) => kept.filter(({ resolution_ms }) => resolution_ms === spanMs).length,
    );
    // (The two of today share a day.)
    assert.deepEqual(counts, [1, 2, 3, 3]);
    assert.equal((await totals(30 * DAY_MS)).requests, 3);
  });

  it('of a clock that is ahead count now', async () => {
    await take(reportOf(1, sampleOf(app, SPAN_MS + DAY_MS), sampleOf(app, SPAN_MS)));
    assert.equal((await totals(300_000)).requests, 2);
  });

  it('of a deleted share count for its environment and frontdoor, of anything else that is not there for nobody', async () => {
    const foreign = await addShare(store, await addFrontdoor(store), 'foreign');
    const gone = { ...app, shareId: 'gone' };
    const taken = await take(
      reportOf(
        1,
        sampleOf(gone, SPAN_MS),
        sampleOf({ ...app, frontdoorId: foreign.frontdoorId }, SPAN_MS),
        sampleOf({ ...app, environmentId: foreign.environmentId }, SPAN_MS),
        sampleOf({ ...foreign, shareId: app.shareId }, SPAN_MS),
        sampleOf({ ...app, environmentId: 'unknown' }, SPAN_MS),
      ),
    );
    assert.equal(taken.unknown, 4);
    assert.equal((await totals()).requests, 1);
    const rows = await store.db.selectFrom('metric_rollup').select('scope_id').distinct().execute();
    assert.deepEqual(
      rows.map(({ scope_id }) => scope_id).sort(),
      [app.environmentId, app.frontdoorId].sort(),
    );
  });

  it('of a billion requests cost the rows of a thousand, and read back within 5 %', async () => {
    const half = 5e8;
    const day = async (place: Place, requests: number, latency: readonly number[]): Promise<number> => {
      const before = await rowCount();
      const samples = Array.from({ length: 250 }, (_, i) =>
        sampleOf(place, SPAN_MS - i * 10_000, { requests, latency, bytesOut: requests * 1_000 }),
      );
      await take(reportOf(1, ...samples), place.shareId);
      return (await rowCount()) - before;
    };
    const few = await addShare(store, await addFrontdoor(store), 'few');
    const fewRows = await day(few, 4, [10, 2, 40, 2]);
    const manyRows = await day(app, (2 * half) / 250, [10, half / 250, 40, half / 250]);
    assert.equal(manyRows, fewRows);
    // 250 spans touch 42 or 43 minutes, an hour or two and a day, for three scopes.
    assert.ok(manyRows <= 3 * (250 + 43 + 2 + 1), `${manyRows} rows`);
    const sum = await totals(DAY_MS);
    assert.deepEqual([sum.requests, sum.bytesOut], [1e9, 1e12]);
    assert.ok(Math.abs(latencyPercentile(sum.latency, 0.5) - 1) <= 0.05 + 1e-9);
  });

  it('cannot make a row that cannot be read', async () => {
    const most = {
      requests: MAX_TRAFFIC_REQUESTS,
      errors: MAX_TRAFFIC_REQUESTS,
      bytesOut: MAX_TRAFFIC_BYTES,
    };
    for (const batch of [1, 2])
      await take(reportOf(batch, sampleOf(app, SPAN_MS, most), sampleOf(app, SPAN_MS, most)));
    const { requests, errors, bytesIn, bytesOut } = await totals();
    assert.deepEqual(
      [requests, errors, bytesIn, bytesOut],
      [MAX_TRAFFIC_REQUESTS, MAX_TRAFFIC_REQUESTS, 40, MAX_TRAFFIC_BYTES],
    );
    const line = await frontdoorLine(store.db, frontdoor, sparklineWindow(HOUR_MS, NOW_MS));
    assert.equal(line.requests.at(-1), MAX_TRAFFIC_REQUESTS);
  });

  it('are read back as lines of the frontdoor and of each environment, by name, and of no other frontdoor', async () => {
    const b = await addShare(store, frontdoor, 'second');
    const foreign = await addShare(store, await addFrontdoor(store), 'foreign');
    await take(
      reportOf(
        1,
        sampleOf(app, SPAN_MS, { requests: 5, errors: 2 }),
        sampleOf(app, SPAN_MS - 120_000),
        sampleOf(b, SPAN_MS),
        sampleOf(foreign, SPAN_MS, { requests: 100 }),
      ),
    );
    const window = sparklineWindow(HOUR_MS, NOW_MS);
    const ends = (...values: readonly number[]): number[] => [
      ...Array.from({ length: 30 - values.length }, () => 0),
      ...values,
    ];
    assert.deepEqual(await frontdoorLine(store.db, frontdoor, window), {
      requests: ends(1, 6),
      errors: ends(0, 2),
    });
    const lines = await environmentLines(store.db, frontdoor, window, 10);
    assert.deepEqual(lines, [
      { id: app.environmentId, name: 'home of app', requests: ends(1, 5), errors: ends(0, 2) },
      { id: b.environmentId, name: 'home of second', requests: ends(1), errors: ends(0) },
    ]);
    assert.equal((await environmentLines(store.db, frontdoor, window, 1)).length, 1);
    assert.deepEqual(await busiestLines(store.db, frontdoor, window, 10), lines);
    await take(reportOf(2, sampleOf(b, SPAN_MS, { requests: 50 })));
    const [busiest, ...others] = await busiestLines(store.db, frontdoor, window, 1);
    assert.deepEqual([busiest!.name, busiest!.requests, others], ['home of second', ends(51), []]);
    const asked = metricWindow(HOUR_MS, undefined, NOW_MS);
    const steps = await environmentTraffic(store.db, frontdoor, foreign.environmentId, asked);
    assert.equal(sumOf(steps).requests, 0);
  });

  it('are forgotten when they are too old, and when what they are of is deleted', async () => {
    const clock = new ManualClock(NOW_MS);
    const sweep = new MetricSweep({ store, clock, log: silentLog });
    const b = await addShare(store, frontdoor, 'second');
    await take(reportOf(1, sampleOf(app, SPAN_MS), sampleOf(b, SPAN_MS)));
    await sweep.sweep();
    assert.equal(await rowCount(), 5 * ROLLUPS.length);
    await store.db.deleteFrom('share').where('id', '=', b.shareId).execute();
    await sweep.sweep();
    assert.equal(await rowCount(), 4 * ROLLUPS.length);
    let left = ROLLUPS.length;
    for (const { spanMs, keptMs } of ROLLUPS) {
      const endsAt = SPAN_MS - (SPAN_MS % spanMs) + spanMs;
      clock.advance(endsAt + keptMs - clock.nowMs());
      await sweep.sweep();
      assert.equal(await rowCount(), 4 * left, `${spanMs} ms are kept until then`);
      clock.advance(1);
      await sweep.sweep();
      left -= 1;
      assert.equal(await rowCount(), 4 * left, `${spanMs} ms are kept no longer`);
    }
    assert.deepEqual(await store.db.selectFrom('metric_source').selectAll().execute(), []);
    await take(reportOf(1, sampleOf(app, SPAN_MS)));
    await store.db.deleteFrom('frontdoor').where('id', '=', frontdoor.id).execute();
    await sweep.sweep();
    assert.equal(await rowCount(), 0);
    await sweep.close();
  });
});
