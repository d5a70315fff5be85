import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { ManualClock, silentLog } from '#base';
import { MetricRegistry } from './metric-registry.ts';
import { prometheusText } from './prometheus-text.ts';

interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What Prometheus reads: HELP and TYPE before the samples of their family, names and labels of its grammar. */
function parse(text: string) {
  assert.ok(text.endsWith('\n'));
  const types = new Map<string, string>();
  const samples: ParsedSample[] = [];
  let family = '';
  for (const line of text.trimEnd().split('\n')) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line);
    if (comment !== null) {
      const [, kind, name = '', rest = ''] = comment;
      if (kind === 'TYPE') {
        assert.ok(!types.has(name), `${name} has two types`);
        assert.equal(name, family, 'HELP stands before TYPE');
        types.set(name, rest);
      } else family = name;
      continue;
    }
    const parts = /^([a-zA-Z_:][a-zA-Z0-9_:]*)\{(.*)\} (\S+)$/.exec(line);
    assert.ok(parts, `no sample: ${line}`);
    const [, name = '', inside = '', value = ''] = parts;
    const ofFamily = types.get(family) === 'summary' ? name.replace(/_(?:sum|count)$/, '') : name;
    assert.equal(ofFamily, family, `${name} stands under ${family}`);
    const labels: Record<string, string> = {};
    const rest = inside.replaceAll(
      /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\.)*)",?/g,
      (_all, label, text) => {
        labels[String(label)] = String(text).replaceAll(/\\(.)/g, (_pair, char) =>
          char === 'n' ? '\n' : String(char),
        );
        return '';
      },
    );
    assert.equal(rest, '');
    assert.ok(!Number.isNaN(Number(value)), value);
    samples.push({ name, labels, value: Number(value) });
  }
  return { types, samples };
}

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
  const { types, samples } = parse(prometheusText('r1', registry.read()));
  const find = (name: string, more: Record<string, string> = {}): number | undefined => {
    const wanted = { source_id: 'r1', ...more };
    return samples.find((sample) => sample.name === name && isDeepStrictEqual(sample.labels, wanted))?.value;
  };

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
