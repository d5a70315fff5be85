import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networkOfAddress } from './address-network.ts';

test('addresses of one network have one text, and other networks another', () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['203.0.113.7', '203.0.113.0/24'],
    ['203.0.113.255', '203.0.113.0/24'],
    ['203.0.114.7', '203.0.114.0/24'],
    ['::ffff:203.0.113.9', '203.0.113.0/24'],
    ['2001:db8:1:2::3', '2001:db8:1::/48'],
    ['2001:db8:1:ffff::1', '2001:db8:1::/48'],
    ['2001:db8:2::1', '2001:db8:2::/48'],
    ['::1', '0:0:0::/48'],
    ['somewhere', undefined],
    ['', undefined],
  ];
  for (const [address, network] of cases) assert.equal(networkOfAddress(address), network, address);
});
