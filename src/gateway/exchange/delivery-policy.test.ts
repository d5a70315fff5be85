import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeDelivery, type Delivery } from './delivery-policy.ts';

const NEVER = { startedMs: -Infinity, endedMs: -Infinity };

function judge(silentMs: number, more: Partial<Delivery> = {}): string {
  return judgeDelivery({
    nowMs: 100_000,
    silentMs,
    answered: NEVER,
    mayRepeat: true,
    holdMs: 5_500,
    ...more,
  });
}

test('a request that the agent has not acknowledged for a second needs a dial, and fails after the hold without an answer to it', () => {
  assert.deepEqual(
    [0, 999, 1_000, 5_499, 5_500].map((silentMs) => judge(silentMs)),
    ['wait', 'wait', 'dial', 'dial', 'fail'],
  );
});

test('a request is sent again once a dial that began later was answered, for so long that an acknowledgement would be here', () => {
  const answeredAgo = (startedMs: number, endedMs: number) => ({
    answered: { startedMs: 100_000 - startedMs, endedMs: 100_000 - endedMs },
  });
  assert.equal(judge(2_000, answeredAgo(900, 500)), 'repeat');
  assert.equal(judge(2_000, answeredAgo(900, 400)), 'wait');
  assert.equal(judge(2_000, answeredAgo(2_100, 600)), 'dial');
  assert.equal(judge(2_000, { ...answeredAgo(900, 500), mayRepeat: false }), 'wait');
  assert.equal(judge(5_500, { ...answeredAgo(900, 500), mayRepeat: false }), 'fail');
});
