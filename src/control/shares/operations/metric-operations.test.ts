import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type {
  BusiestSharesAnswer,
  EnvironmentMetricsAnswer,
  FrontdoorMetricsAnswer,
  SparklinesAnswer,
} from '#contract/schemas';
import { reportOf, sampleOf, type Place } from '../metrics/metric-fixture.ts';
import { takeTrafficReport } from '../metrics/metric-store.ts';
import { createShare } from '../records/share-store.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';

/** Durations in the right form that metrics, or a step of an hour's metrics, do not take. */
const OUTSIDE = new Set(['PT4M59S', 'P31D', 'PT9S', 'PT2H', 'PT0S']);

describe('metrics', () => {
  let world: ApiWorld;
  let app: Place;
  let other: Place;
  let path: string;

  async function place(name: string): Promise<Place> {
    const frontdoorId = world.first.frontdoorId;
    const environmentId = await world.addEnvironment(`home of ${name}`);
    const { id: shareId } = await world.store.transaction((trx, touch) =>
      createShare(trx, touch, {
        frontdoorId,
        environmentId,
        name,
        shareMode: 'private',
        target: 'http://127.0.0.1:3000',
        backendMode: 'proxy',
        targetByAgent: false,
        nowMs: world.clock.nowMs(),
      }),
    );
    return { shareId, environmentId, frontdoorId };
  }

  before(async () => {
    world = await openApiWorld();
    // Five seconds into a span, that is into the running step.
    world.clock.advance(Date.UTC(2026, 2, 14, 15, 9, 25) - world.clock.nowMs());
    path = `/frontdoor/${world.first.frontdoorId}`;
    app = await place('app');
    other = await place('other');
    const spanMs = world.clock.nowMs() - 5_000;
    const report = reportOf(
      1,
      sampleOf(app, spanMs, {
        requests: 4,
        errors: 1,
        bytesIn: 30,
        bytesOut: 70,
        latency: [10, 3, 75, 1],
        byClass: [1, 1, 1, 1],
      }),
      sampleOf(other, spanMs - 60_000, { requests: 2, byClass: [2, 0, 0, 0], latency: [10, 2] }),
    );
    await takeTrafficReport(world.store, 'gateway/1', report, world.clock.nowMs());
  });
  after(() => world.close());

  const totals = {
    requests: 6,
    errors: 1,
    bytesIn: 40,
    bytesOut: 170,
    status2xx: 3,
    status3xx: 1,
    status4xx: 1,
    status5xx: 1,
    latencyMs: { p50: 1.05, p95: 99.2, p99: 99.2 },
  };
  const nothing = {
    requests: 0,
    errors: 0,
    bytesIn: 0,
    bytesOut: 0,
    status2xx: 0,
    status3xx: 0,
    status4xx: 0,
    status5xx: 0,
    latencyMs: { p50: 0, p95: 0, p99: 0 },
  };

  it('of a share are its own, and its line is found by token and environment', async () => {
    const { body } = await world.call('GET', `${path}/shares/app/metrics`);
    assert.partialDeepStrictEqual(body, {
      shareToken: 'app',
      totals: { requests: 4, errors: 1, bytesIn: 30 },
    });
    assert.equal((await world.call('GET', `${path}/shares/missing/metrics`)).status, 404);
    const linesFor = async (query: string) => {
      const answer = await world.call('GET', `${path}/share-sparklines?${query}`);
      const { sparklines } = answer.body as SparklinesAnswer;
      return sparklines.map(({ scope, id, name, requests }) => [
        scope,
        id,
        name,
        requests.reduce((sum, each) => sum + each, 0),
      ]);
    };
    const [first, second] = [
      ['share', 'app', 'app', 4],
      ['share', 'other', 'other', 2],
    ];
    assert.deepEqual(await linesFor('duration=PT1H'), [first, second]);
    assert.deepEqual(await linesFor('name=PP'), [first]);
    assert.deepEqual(await linesFor(`environmentId=${other.environmentId}`), [second]);
    assert.deepEqual(await linesFor('tokens=missing,other'), [second]);
    assert.deepEqual(await linesFor('tokens=other,app&name=pp'), [first]);
    const tooMany = Array.from({ length: 101 }, (_none, at) => `share-${at}`).join(',');
    assert.equal((await world.call('GET', `${path}/share-sparklines?tokens=${tooMany}`)).status, 400);
  });

  it('of a frontdoor are the last hour in minutes, the running one included, zeros where there was nothing', async () => {
    const { status, body } = await world.call('GET', `${path}/metrics`);
    assert.equal(status, 200);
    const { samples, ...rest } = body as FrontdoorMetricsAnswer;
    assert.deepEqual(rest, {
      frontdoorId: world.first.frontdoorId,
      duration: 'PT1H',
      step: 'PT1M',
      start: '2026-03-14T14:10:00.000Z',
      end: '2026-03-14T15:10:00.000Z',
      totals,
    });
    assert.equal(samples.length, 60);
    assert.deepEqual(samples[0], { timestamp: '2026-03-14T14:10:00.000Z', ...nothing });
    assert.deepEqual(samples[58], {
      timestamp: '2026-03-14T15:08:00.000Z',
      requests: 2,
      errors: 0,
      bytesIn: 10,
      bytesOut: 100,
      status2xx: 2,
      status3xx: 0,
      status4xx: 0,
      status5xx: 0,
      latencyMs: { p50: 1.05, p95: 1.05, p99: 1.05 },
    });
    assert.deepEqual(samples[59], {
      timestamp: '2026-03-14T15:09:00.000Z',
      requests: 4,
      errors: 1,
      bytesIn: 30,
      bytesOut: 70,
      status2xx: 1,
      status3xx: 1,
      status4xx: 1,
      status5xx: 1,
      latencyMs: { p50: 1.05, p95: 99.2, p99: 99.2 },
    });
  });

  it('of the busiest shares have the counts of the same window, the most requests first', async () => {
    const { status, body } = await world.call('GET', `${path}/busiest-shares?duration=PT1H&step=PT1M`);
    assert.equal(status, 200);
    const { shares, ...rest } = body as BusiestSharesAnswer;
    assert.deepEqual(rest, {
      frontdoorId: world.first.frontdoorId,
      duration: 'PT1H',
      start: '2026-03-14T14:10:00.000Z',
      end: '2026-03-14T15:10:00.000Z',
    });
    assert.deepEqual(shares, [
      {
        token: 'app',
        name: 'app',
        requests: 4,
        errors: 1,
        bytesIn: 30,
        bytesOut: 70,
        status2xx: 1,
        status3xx: 1,
        status4xx: 1,
        status5xx: 1,
        latencyMs: { p50: 1.05, p95: 99.2, p99: 99.2 },
      },
      {
        token: 'other',
        name: 'other',
        ...nothing,
        requests: 2,
        bytesIn: 10,
        bytesOut: 100,
        status2xx: 2,
        latencyMs: { p50: 1.05, p95: 1.05, p99: 1.05 },
      },
    ]);
    const namesFor = async (query: string) => {
      const answer = await world.call('GET', `${path}/busiest-shares?${query}`);
      return (answer.body as BusiestSharesAnswer).shares.map(({ token, requests }) => [token, requests]);
    };
    for (const duration of ['PT5M', 'P1D', 'P7D', 'P30D'])
      assert.deepEqual(
        await namesFor(`duration=${duration}`),
        [
          ['app', 4],
          ['other', 2],
        ],
        duration,
      );
    assert.deepEqual(await namesFor('top=1'), [['app', 4]]);
    const { authorization, frontdoorId } = world.other;
    const foreign = await world.call('GET', `/frontdoor/${frontdoorId}/busiest-shares`, { authorization });
    assert.deepEqual((foreign.body as BusiestSharesAnswer).shares, []);
  });

  it('of an environment are its own alone', async () => {
    const { status, body } = await world.call('GET', `${path}/environments/${other.environmentId}/metrics`);
    assert.equal(status, 200);
    const answer = body as EnvironmentMetricsAnswer;
    assert.deepEqual(
      [answer.frontdoorId, answer.environmentId, answer.totals.requests, answer.totals.bytesOut],
      [world.first.frontdoorId, other.environmentId, 2, 100],
    );
    assert.equal(answer.samples.at(-2)!.requests, 2);
  });

  it('take the duration and the step asked for; samples add up to the totals', async () => {
    const rows: readonly (readonly [string, string, string, number])[] = [
      ['duration=PT5M', 'PT5M', 'PT10S', 30],
      ['duration=PT15M&step=PT1M', 'PT15M', 'PT1M', 15],
      ['duration=P1D', 'P1D', 'PT24M', 60],
      ['duration=PT24H&step=PT1H', 'P1D', 'PT1H', 24],
      ['duration=P30D&step=P1D', 'P30D', 'P1D', 30],
      ['duration=P1W&step=PT10S', 'P7D', 'PT1H', 168],
      ['step=PT15S', 'PT1H', 'PT20S', 180],
    ];
    for (const [query, duration, step, count] of rows) {
      const { body } = await world.call('GET', `${path}/metrics?${query}`);
      const answer = body as FrontdoorMetricsAnswer;
      assert.deepEqual([answer.duration, answer.step, answer.samples.length], [duration, step, count], query);
      assert.deepEqual(answer.totals, totals, query);
      const requests = answer.samples.reduce((sum, sample) => sum + sample.requests, 0);
      assert.equal(requests, 6, query);
    }
  });

  it('refuse durations that are malformed or outside PT5M to P30D, and steps outside PT10S to the duration', async () => {
    const refused = async (query: string, says: string): Promise<void> => {
      for (const what of ['metrics', `environments/${app.environmentId}/metrics`]) {
        const { status, body } = await world.call('GET', `${path}/${what}?${query}`);
        assert.deepEqual([status, body], [400, { error: 'invalid_request', message: says }], query);
      }
    };
    const durations = [
      '',
      'PT4M59S',
      'P31D',
      'P1M',
      'P1Y',
      '1h',
      'pt1h',
      '3600',
      'PT1H&duration=PT1H',
      '-PT1H',
    ];
    for (const duration of durations) {
      const rule = OUTSIDE.has(duration) ? 'duration from PT5M to P30D' : 'duration';
      const type = duration.includes('&') ? 'one value, not several' : rule;
      await refused(`duration=${duration}`, `Value for duration must be of ${type}`);
    }
    for (const step of ['', 'PT9S', 'PT2H', 'P1M', 'ten', 'PT10S&step=PT10S']) {
      const rule = OUTSIDE.has(step) ? 'duration from PT10S to PT1H' : 'duration';
      const type = step.includes('&') ? 'one value, not several' : rule;
      await refused(`step=${step}`, `Value for step must be of ${type}`);
    }
    const { status, body } = await world.call('GET', `${path}/sparklines?duration=P1Y`);
    const message = 'Value for duration must be of duration';
    assert.deepEqual([status, body], [400, { error: 'invalid_request', message }]);
  });

  it('of an environment that is missing or in another frontdoor are not found', async () => {
    const foreign = await world.addEnvironment('foreign', world.other.frontdoorId);
    for (const id of [foreign, randomUUID(), 'no-id']) {
      const { status, body } = await world.call('GET', `${path}/environments/${id}/metrics`);
      assert.deepEqual([status, body], [404, { error: 'not_found', message: `Environment ${id} not found` }]);
    }
    const { status } = await world.call('GET', `/frontdoor/${world.other.frontdoorId}/metrics`);
    assert.equal(status, 403);
  });

  it('as sparklines are thirty steps of the frontdoor and of each environment, by name', async () => {
    const { status, body } = await world.call('GET', `${path}/sparklines`);
    assert.equal(status, 200);
    const { sparklines, ...rest } = body as SparklinesAnswer;
    assert.deepEqual(rest, {
      frontdoorId: world.first.frontdoorId,
      duration: 'PT1H',
      step: 'PT2M',
      start: '2026-03-14T14:10:00.000Z',
    });
    const zeros = Array.from({ length: 29 }, () => 0);
    const { first } = world;
    const { name } = (await world.call('GET', path)).body as { name: string };
    assert.deepEqual(sparklines, [
      { scope: 'frontdoor', id: first.frontdoorId, name, requests: [...zeros, 6], errors: [...zeros, 1] },
      {
        scope: 'environment',
        id: app.environmentId,
        name: 'home of app',
        requests: [...zeros, 4],
        errors: [...zeros, 1],
      },
      {
        scope: 'environment',
        id: other.environmentId,
        name: 'home of other',
        requests: [...zeros, 2],
        errors: [...zeros, 0],
      },
    ]);
  });

  it('as sparklines are those of the busiest environments, where so many are asked for', async () => {
    const idsFor = async (query: string) => {
      const { body } = await world.call('GET', `${path}/sparklines?${query}`);
      return (body as SparklinesAnswer).sparklines.map(({ id }) => id);
    };
    const { frontdoorId } = world.first;
    assert.deepEqual(await idsFor('busiest=1'), [frontdoorId, app.environmentId]);
    // Without requests an environment is not busy.
    await world.addEnvironment('a quiet one');
    assert.deepEqual(await idsFor('busiest=9'), [frontdoorId, app.environmentId, other.environmentId]);
    assert.equal((await world.call('GET', `${path}/sparklines?busiest=0`)).status, 400);
  });

  it('of a frontdoor without any traffic are zeros', async () => {
    const url = `/frontdoor/${world.other.frontdoorId}`;
    const { authorization } = world.other;
    const metrics = await world.call('GET', `${url}/metrics?duration=PT5M`, { authorization });
    const { totals: none, samples } = metrics.body as FrontdoorMetricsAnswer;
    assert.deepEqual(none, nothing);
    for (const { timestamp: _timestamp, ...sample } of samples) assert.deepEqual(sample, nothing);
  });
});
