import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decideMembership, type MembershipDecision } from './membership-policy.ts';

const A = 'tls:a:1';
const B = 'tls:b:1';

const REPLACE: MembershipDecision = { use: 'replace', asksLeader: false, senderLeads: false };

function decide(index: bigint, pushedIndex: bigint, isLeader: boolean, endpoints: string[], connected = [A]) {
  return decideMembership({ index, connected }, { index: pushedIndex, isLeader, endpoints });
}

test('the first list counts whatever its index, later ones when they are newer', () => {
  assert.deepEqual(decide(0n, 0n, false, [A, B]), REPLACE);
  assert.deepEqual(decide(4n, 5n, false, [A, B]), REPLACE);
  for (const index of [3n, 4n]) assert.equal(decide(4n, index, false, [A, B]).use, 'nothing');
});

test('an empty list changes nothing and makes the router ask the leader', () => {
  assert.deepEqual(decide(4n, 5n, false, []), { use: 'nothing', asksLeader: true, senderLeads: false });
});

test('only the leader takes away a controller that is connected', () => {
  assert.deepEqual(decide(4n, 5n, false, [B]), { use: 'add', asksLeader: true, senderLeads: false });
  assert.deepEqual(decide(4n, 5n, true, [B]), { ...REPLACE, senderLeads: true });
  assert.deepEqual(decide(4n, 5n, false, [B], []), REPLACE);
});

test('a sender leads when its list is not older than the one in use', () => {
  assert.deepEqual(
    [3n, 4n, 5n].map((index) => decide(4n, index, true, [A]).senderLeads),
    [false, true, true],
  );
});
