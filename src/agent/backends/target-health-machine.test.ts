import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  knownToStayOpen,
  stepTargetHealth,
  UNKNOWN_HEALTH,
  type LookResult,
  type TargetHealth,
} from './target-health-machine.ts';

const refused: LookResult = { type: 'failed', reason: 'refused' };
const closed: LookResult = { type: 'closed' };
const stayedOpen: LookResult = { type: 'stayedOpen' };
const spoke: LookResult = { type: 'spoke' };

function after(...results: LookResult[]): TargetHealth {
  return results.reduce((state, result) => stepTargetHealth(state, result).state, UNKNOWN_HEALTH);
}

test('one refused connection fails, one that closes in order passes', () => {
  assert.equal(after(refused).verdict, 'failing');
  assert.equal(after(refused).reason, 'refused');
  assert.equal(after(refused, closed).verdict, 'passing');
  assert.equal(after(closed, refused).verdict, 'failing');
});

test('a service that never closed is not called frozen however long it stays open', () => {
  assert.equal(after(stayedOpen, stayedOpen, stayedOpen, stayedOpen).verdict, 'passing');
  assert.equal(knownToStayOpen(after(stayedOpen, stayedOpen)), false);
  assert.equal(knownToStayOpen(after(stayedOpen, stayedOpen, stayedOpen)), true);
});

test('a service that used to close fails at the second missed close in a row, looked at again at once', () => {
  const first = stepTargetHealth(after(closed), stayedOpen);
  assert.equal(first.state.verdict, 'passing');
  assert.equal(first.again, true);
  const second = stepTargetHealth(first.state, stayedOpen);
  assert.equal(second.state.verdict, 'failing');
  assert.match(second.state.reason ?? '', /does not respond/);
  assert.equal(after(closed, stayedOpen, closed, stayedOpen).verdict, 'passing');
  assert.equal(after(closed, stayedOpen, stayedOpen, closed).verdict, 'passing');
});

test('a service that was replaced by one that stays open is learned again', () => {
  assert.equal(after(closed, refused, stayedOpen, stayedOpen).verdict, 'passing');
});

test('bytes from a service that was called frozen clear it and end the habit', () => {
  const state = after(closed, stayedOpen, stayedOpen, spoke);
  assert.equal(state.verdict, 'passing');
  assert.equal(stepTargetHealth(state, stayedOpen).state.verdict, 'passing');
  assert.equal(after(closed, spoke).closesOnEnd, true);
});
