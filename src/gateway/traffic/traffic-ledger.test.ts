import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TrafficSample } from '#domain/gateway-shapes';
import { TrafficLedger } from './traffic-ledger.ts';

const START = Date.UTC(2026, 2, 14);

function sample(startsAt: number, shareId = 'share', more: Partial<TrafficSample> = {}): TrafficSample {
  const place = { shareId, environmentId: 'environment', frontdoorId: 'frontdoor' };
  return {
    startsAt,
    ...place,
    requests: 2,
    errors: 1,
    byClass: [1, 0, 0, 1],
    bytesIn: 3,
    bytesOut: 4,
    latency: [10, 1, 20, 1],
    ...more,
  };
}

test('traffic of one share in one span is one sample, the rest stays apart, oldest first', () => {
  const ledger = new TrafficLedger();
  ledger.add([sample(START), sample(START, 'other')]);
  ledger.add([sample(START), sample(START + 10_000)]);
  assert.deepEqual([ledger.size, ledger.requests], [3, 8]);
  const merged = {
    requests: 4,
    errors: 2,
    byClass: [2, 0, 0, 2],
    bytesIn: 6,
    bytesOut: 8,
    latency: [10, 2, 20, 2],
  };
  assert.deepEqual(ledger.take(2), [sample(START, 'share', merged), sample(START, 'other')]);
  assert.deepEqual(ledger.take(2), [sample(START + 10_000)]);
  assert.deepEqual(ledger.take(2), []);
  // A batch that was taken belongs to its taker, so the same span starts again at zero.
  ledger.add([sample(START)]);
  assert.deepEqual(ledger.take(2), [sample(START)]);
});

test('counts that grow too large are merged into coarser spans, and none is lost', () => {
  const ledger = new TrafficLedger(2_000);
  const spans = 8_640;
  for (let i = 0; i < spans; i += 1) {
    ledger.add([sample(START + i * 10_000), sample(START + i * 10_000, 'other')]);
    assert.ok(ledger.size <= 2_000 / 32);
  }
  assert.equal(ledger.requests, spans * 2 * 2);
  const samples = ledger.take(100);
  const latencies = samples.flatMap(({ latency }) => latency.filter((_, i) => i % 2 === 1));
  const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
  assert.equal(sum(latencies), spans * 2 * 2);
  assert.equal(sum(samples.map(({ bytesOut }) => bytesOut)), spans * 2 * 4);
  for (const { startsAt } of samples) assert.equal(startsAt % 10_000, 0);
});

test('of more shares than there is room for, latencies go and counts stay', () => {
  const ledger = new TrafficLedger(2_000);
  const latency = Array.from({ length: 50 }, (_, i) => [i, 1]).flat();
  for (let i = 0; i < 60; i += 1) ledger.add([sample(START, `share-${i}`, { requests: 50, latency })]);
  const samples = ledger.take(100);
  assert.equal(samples.length, 60);
  assert.ok(samples.every(({ requests }) => requests === 50));
  assert.ok(samples.filter((one) => one.latency.length === 0).length > 40);
});
