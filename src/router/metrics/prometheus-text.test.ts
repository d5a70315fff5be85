import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock, silentLog } from '#base';
import { Exposition } from '#net/metrics';
import { MetricRegistry } from './metric-registry.ts';
import { PrometheusText } from '../../../test/support/prometheus-text.ts';
import { writeRouterMetrics } from './prometheus-text.ts';

test('reads back as the counters, gauges and summaries that were fed', () => {
  const clock = new ManualClock();
  const registry = new MetricRegistry({
    reportIntervalMs: 60_000,
    intervalAgeThresholdMs: 80_000,
    clock,
    log: silentLog,
  });
  registry.gauge('pool.link.dialer.worker_count', () => 32);
  registry.meter('edge.connect.failures').mark(3);
  for (const link of ['l1', 'l.2"\\\n']) {
    registry.meter(`link.${link}.tx.bytesrate`).mark(10);
    registry.histogram(`link.${link}.latency`).update(2_000_000);
    registry.meter(`link.dropped_msgs:${link}`).mark(1);
  }
  registry.timer('xgress.tx_write_time').update(3_000_000_000);
  clock.advance(5_000);
  const to = new Exposition();
  writeRouterMetrics(to, 'r1', registry.read());
  const text = new PrometheusText(to.toString());
  const { types } = text;
  const find = (name: string, more: Record<string, string> = {}): number | undefined =>
    text.value(name, { source_id: 'r1', ...more });

  assert.equal(types.get('ziti_pool_link_dialer_worker_count'), 'gauge');
  assert.equal(find('ziti_pool_link_dialer_worker_count'), 32);
  assert.equal(types.get('ziti_edge_connect_failures_total'), 'counter');
  assert.equal(find('ziti_edge_connect_failures_total'), 3);
  assert.equal(types.get('ziti_edge_connect_failures_per_second'), 'gauge');
  assert.equal(find('ziti_edge_connect_failures_per_second', { window: '1m' }), 0.6);
  assert.equal(types.get('ziti_link_latency'), 'summary');
  for (const link_id of ['l1', 'l.2"\\\n']) {
    assert.equal(find('ziti_link_latency', { link_id, quantile: '0.99' }), 2_000_000);
    assert.equal(find('ziti_link_latency_sum', { link_id }), 2_000_000);
    assert.equal(find('ziti_link_latency_count', { link_id }), 1);
    assert.equal(find('ziti_link_tx_bytesrate_total', { link_id }), 10);
    assert.equal(find('ziti_link_dropped_msgs_total', { link_id }), 1);
  }
  assert.equal(types.get('ziti_xgress_tx_write_time_seconds'), 'summary');
  assert.equal(find('ziti_xgress_tx_write_time_seconds', { quantile: '0.5' }), 3);
  registry.close();
});
