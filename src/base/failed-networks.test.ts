import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from './clock.ts';
import { FailedNetworks } from './failed-networks.ts';

test('a network is remembered for a quarter of an hour after its last failure, and ten thousand of them', () => {
  const clock = new ManualClock();
  const failures = new FailedNetworks(clock);
  failures.failed('192.0.2.1');
  clock.advance(10 * 60_000);
  failures.failed('198.51.100.1');
  failures.failed('192.0.2.2');
  assert.deepEqual([failures.has('192.0.2.3'), failures.has('192.0.3.1')], [true, false]);
  for (let at = 0; at < 9_999; at += 1) failures.failed(`10.${at >> 8}.${at & 255}.1`);
  assert.deepEqual([failures.has('192.0.2.3'), failures.has('198.51.100.1')], [true, false]);
  clock.advance(15 * 60_000);
  assert.equal(failures.has('192.0.2.3'), false);
});
