import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TerminatorCosts } from './terminator-costs.ts';

const MINUTE_MS = 60_000;

test('each circuit costs a little while it stands, each failed dial much more', () => {
  const costs = new TerminatorCosts();
  costs.onDialed('t');
  costs.onDialed('t');
  assert.equal(costs.dynamicCost('t'), 4);
  costs.onDialFailed('t', 0);
  assert.equal(costs.dynamicCost('t'), 24);
  costs.onCircuitEnded('t');
  assert.equal(costs.dynamicCost('t'), 22);
  // A success takes a little of the failure back, and is a circuit.
  costs.onDialed('t');
  assert.equal(costs.dynamicCost('t'), 22);
  assert.equal(costs.dynamicCost('other'), 0);
});

test('time takes back what failures cost, faster the longer ago they are', () => {
  const costs = new TerminatorCosts();
  costs.tick(0);
  for (let i = 0; i < 5; i += 1) costs.onDialFailed('t', 0);
  costs.tick(MINUTE_MS - 1);
  assert.equal(costs.dynamicCost('t'), 100);
  costs.tick(MINUTE_MS);
  assert.equal(costs.dynamicCost('t'), 90);
  // 35 minutes later: two to the seventh.
  costs.tick(35 * MINUTE_MS);
  assert.equal(costs.dynamicCost('t'), 0);
  assert.equal(costs.failuresInARow('t'), 0);
});

test('the cost has a ceiling, failures in a row end with a success, and what is forgotten costs nothing', () => {
  const costs = new TerminatorCosts();
  for (let i = 0; i < 40_000; i += 1) costs.onDialFailed('t', 0);
  assert.equal(costs.dynamicCost('t'), 65_535);
  assert.equal(costs.failuresInARow('t'), 40_000);
  costs.onDialed('t');
  assert.equal(costs.failuresInARow('t'), 0);
  costs.forget('t');
  costs.onCircuitEnded('t');
  assert.equal(costs.dynamicCost('t'), 0);
});
