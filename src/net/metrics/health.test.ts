import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '#base';
import { PrometheusText } from '../../../test/support/prometheus-text.ts';
import { ProgramHealth } from './health.ts';
import { openMetricsEndpoint } from './metrics-endpoint.ts';

test('a program lives as long as it answers, and is ready once it has started and all its checks pass, until it stops', async (t) => {
  const health = new ProgramHealth('0.1.0');
  const endpoint = await openMetricsEndpoint({ host: '127.0.0.1', port: 0 }, [], silentLog, health);
  t.after(() => endpoint.close());
  const origin = `http://127.0.0.1:${endpoint.port}`;
  const read = async (): Promise<unknown[]> => {
    const live = await fetch(`${origin}/health/live`);
    assert.deepEqual([live.status, await live.json()], [200, { status: 'live' }]);
    const ready = await fetch(`${origin}/health/ready`);
    const metrics = new PrometheusText(await (await fetch(`${origin}/metrics`)).text());
    const { version, ...readiness } = (await ready.json()) as Record<string, unknown>;
    assert.equal(version, '0.1.0');
    return [ready.status, readiness, metrics.value('frontdoor_ready')];
  };
  assert.deepEqual(await read(), [503, { status: 'starting', checks: {} }, 0]);
  let [database, routers]: unknown[] = [true, true];
  health.add({
    name: 'database',
    isReady: async () => {
      if (database instanceof Error) throw database;
      return database === true;
    },
  });
  health.add({ name: 'routers', isReady: () => routers === true });
  assert.deepEqual(await read(), [200, { status: 'ready', checks: { database: true, routers: true } }, 1]);
  routers = false;
  assert.deepEqual(await read(), [
    503,
    { status: 'not-ready', checks: { database: true, routers: false } },
    0,
  ]);
  const without = async (...names: string[]): Promise<number> =>
    (await fetch(`${origin}/health/ready?${names.map((name) => `ignore=${name}`).join('&')}`)).status;
  assert.deepEqual(
    [await without('routers'), await without('database'), await without('database', 'routers')],
    [200, 503, 200],
  );
  routers = true;
  // The answer does not repeat the message.
  database = new Error('postgres://user:password@host');
  assert.deepEqual(await read(), [
    503,
    { status: 'not-ready', checks: { database: false, routers: true } },
    0,
  ]);
  database = true;
  health.stop();
  assert.equal(await without('routers'), 503);
  assert.deepEqual(await read(), [503, { status: 'stopping', checks: { database: true, routers: true } }, 0]);
});
