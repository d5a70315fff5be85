import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goalText } from './bench-report.ts';
import type { BenchResult, Measured } from './bench-result.ts';
import { figureOf } from './figure.ts';
import { OPENZITI } from './openziti-peer.ts';

function resultWith(circuits: Record<string, Measured>): BenchResult {
  return {
    format: 1,
    startedAt: '2026-01-01T00:00:00.000Z',
    machine: { cpus: 2, model: 'any', kernel: 'any', node: 'any' },
    rounds: 1,
    roundSeconds: 1,
    skipped: [],
    scenarios: { circuits },
    shapes: {},
    checked: { requests: 0, unique: 0 },
  };
}

const rate = (perSecond: number): Measured => ({ rate: figureOf([perSecond]), cpuUs: {} });

test('circuits are compared with OpenZiti of the same run where it took part, and with nothing else', () => {
  const text = goalText(resultWith({ up: rate(700), [OPENZITI]: rate(100) }), 'up');
  assert.match(text, /circuits\/s, to OpenZiti's in this run +≥ 5 × +7\.00 × +reached/);
  assert.doesNotMatch(text, /earlier run/);
});

test('circuits are compared with an earlier figure, and said to be, where no OpenZiti took part', () => {
  const text = goalText(resultWith({ up: rate(168) }), 'up');
  assert.match(text, /circuits\/s, to OpenZiti's 84\/s of an earlier run +≥ 5 × +2\.00 × +MISSED/);
  assert.doesNotMatch(text, /in this run/);
});
