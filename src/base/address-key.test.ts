import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressKey, networkKey } from './address-key.ts';

test('an address has one key, and a network of a customer another, also with IPv4 addresses that are written as IPv6', () => {
  const rows = [
    ['192.0.2.7', '192.0.2.7', '192.0.2.0/24'],
    ['::ffff:192.0.2.7', '192.0.2.7', '192.0.2.0/24'],
    ['2001:db8:1:23ab:5::9', '2001:db8:1:23ab::/64', '2001:db8:1::/48'],
    ['2001:db8:1:ab::9', '2001:db8:1:ab::/64', '2001:db8:1::/48'],
    ['2001:db8::1', '2001:db8:0:0::/64', '2001:db8:0::/48'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0:0::/48'],
    ['::1', '0:0:0:0::/64', '0:0:0::/48'],
  ] as const;
  for (const [address, key, network] of rows)
    assert.deepEqual([addressKey(address), networkKey(address)], [key, network], address);
});
