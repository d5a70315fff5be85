import assert from 'node:assert/strict';
import { test } from 'node:test';
import { goalText } from './bench-report.ts';
import { measured, resultWith } from './bench-result-fixture.ts';
import type { Measured } from './bench-result.ts';
import { OPENZITI } from './openziti-peer.ts';
import { productGoals } from './product-goal-table.ts';

function goalsWith(circuits: Record<string, Measured>): string {
  return goalText('goals', productGoals('up'), resultWith({ scenarios: { circuits } }));
}

test('circuits are compared with OpenZiti of the same run where it took part, and with nothing else', () => {
  const text = goalsWith({ up: measured(700), [OPENZITI]: measured(100) });
  assert.match(text, /circuits\/s, to OpenZiti's in this run +≥ 5 × +7\.00 × +reached/);
  assert.doesNotMatch(text, /earlier run/);
});

test('circuits are compared with an earlier figure, which the name states, where no OpenZiti took part', () => {
  const text = goalsWith({ up: measured(168) });
  assert.match(text, /circuits\/s, to OpenZiti's 84\/s of an earlier run +≥ 5 × +2\.00 × +MISSED/);
  assert.doesNotMatch(text, /in this run/);
});
