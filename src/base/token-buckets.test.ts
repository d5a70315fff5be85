import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressKey } from './address-key.ts';
import { ManualClock } from './clock.ts';
import { TokenBuckets } from './token-buckets.ts';

test('a burst is served, and then as many a second as the limit allows, for each key', () => {
  const clock = new ManualClock();
  const buckets = new TokenBuckets({ perSecond: 2, burst: 3 }, clock);
  assert.deepEqual(
    [1, 2, 3, 4].map(() => buckets.take('a')),
    [0, 0, 0, 500],
  );
  assert.equal(buckets.take('b'), 0);
  clock.advance(400);
  assert.ok(buckets.take('a') > 0);
  clock.advance(101);
  assert.equal(buckets.take('a'), 0);
  clock.advance(3_600_000);
  assert.deepEqual(
    [1, 2, 3, 4].map(() => buckets.take('a')),
    [0, 0, 0, 500],
  );
});

test('a clock that is set back takes nothing away', () => {
  const clock = new ManualClock();
  const buckets = new TokenBuckets({ perSecond: 1, burst: 2 }, clock);
  assert.equal(buckets.take('a'), 0);
  clock.advance(-60_000);
  assert.equal(buckets.take('a'), 0);
});

test('a bounded number of keys is remembered, the one used longest ago goes first', () => {
  const buckets = new TokenBuckets({ perSecond: 1, burst: 1 }, new ManualClock());
  for (let i = 0; i < 25_000; i += 1) buckets.take(`caller ${i}`);
  assert.equal(buckets.size, 20_000);
  assert.ok(buckets.take('caller 24999') > 0);
  assert.equal(buckets.take('caller 4999'), 0);
});

test('an IPv6 network is one key, an IPv4 address one, in either spelling', () => {
  assert.equal(addressKey('192.0.2.1'), '192.0.2.1');
  assert.equal(addressKey('::ffff:192.0.2.1'), '192.0.2.1');
  assert.equal(addressKey('2001:db8:1:2:3:4:5:6'), addressKey('2001:db8:1:2::9'));
  assert.notEqual(addressKey('2001:db8:1:2::9'), addressKey('2001:db8:1:3::9'));
  assert.equal(addressKey('fe80::1%eth0'), addressKey('fe80::2'));
  assert.equal(addressKey('::1'), '0:0:0:0::/64');
});
