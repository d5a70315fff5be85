import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAllowedAddress, parseAllowedNetwork, type AllowedNetwork } from './allowed-network-policy.ts';
import { parseAddress } from './ip-network.ts';

function allow(...texts: string[]): AllowedNetwork[] {
  return texts.map((text) => {
    const parsed = parseAllowedNetwork('--allow-x', text);
    assert.ok('allowed' in parsed, JSON.stringify(parsed));
    return parsed.allowed;
  });
}

test('nothing is allowed without entries', () => {
  assert.equal(isAllowedAddress([], '10.0.0.1', 80), false);
});

test('an address is allowed inside the network and the ports only', () => {
  const rules = allow('10.0.0.0/8:80,8000-8100', '192.0.2.7:443', '[fd00::]/8:*', '172.16.0.0/12:1');
  for (const [address, port, expected] of [
    ['10.255.1.2', 80, true],
    ['10.255.1.2', 8000, true],
    ['10.255.1.2', 8100, true],
    ['10.255.1.2', 8101, false],
    ['11.0.0.1', 80, false],
    ['192.0.2.7', 443, true],
    ['192.0.2.8', 443, false],
    ['172.31.255.255', 1, true],
    ['172.32.0.0', 1, false],
    ['fd12::1', 65535, true],
    ['fe80::1', 80, false],
    ['::ffff:10.1.1.1', 80, true],
    ['::ffff:a01:101', 80, true],
    ['::ffff:127.0.0.1', 80, false],
    ['localhost', 80, false],
    ['10.0.0.1%eth0', 80, false],
    ['010.0.0.1', 80, false],
  ] as const) {
    assert.equal(isAllowedAddress(rules, address, port), expected, `${address} ${port}`);
  }
});

test('entries that cannot be meant are refused, each with its reason', () => {
  for (const text of [
    '',
    '10.0.0.0/8',
    'app:80',
    '10.0.0.0/33:80',
    '10.0.0.0/:80',
    '10.0.0.0/8/8:80',
    '10.0.0.0/8:0',
    '10.0.0.0/8:65536',
    '10.0.0.0/8:90-80',
    '10.0.0.0/8:80,',
    '::/0',
  ]) {
    assert.ok('problem' in parseAllowedNetwork('--allow-x', text), text);
  }
});

test('IPv6 literals are read in every form', () => {
  for (const text of ['::', '::1', '1::', '1:2:3:4:5:6:7:8', '2001:db8::1:0:0:1', '64:ff9b::192.0.2.33']) {
    assert.equal(parseAddress(text)?.length, 16, text);
  }
  for (const text of ['1:2:3', '1::2::3', '12345::', ':::', '1:2:3:4:5:6:7:8:9', '::1.2.3']) {
    assert.equal(parseAddress(text), undefined, text);
  }
});
