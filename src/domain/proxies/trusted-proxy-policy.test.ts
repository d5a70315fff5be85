import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forwardedAddresses, isTrustedProxy, parseTrustedProxies } from './trusted-proxy-policy.ts';

test('proxies are addresses and networks; nothing else is trusted', () => {
  const proxies = parseTrustedProxies('127.0.0.1, 10.1.0.0/16,fd00::/8')!;
  for (const address of ['127.0.0.1', '::ffff:127.0.0.1', '10.1.2.3', 'fd12::1'])
    assert.equal(isTrustedProxy(proxies, address), true, address);
  for (const address of ['127.0.0.2', '10.2.0.1', 'fe80::1', '::1', '', 'unknown', '10.1.2.3:80'])
    assert.equal(isTrustedProxy(proxies, address), false, address);
  for (const text of ['', 'localhost', '10.0.0.0/33', '10.0.0.1,', '10.0.0.0/8;10.0.0.1', '*'])
    assert.equal(parseTrustedProxies(text), undefined, text);
});

test('forwarded addresses are read without ports, and no further than the last that is none', () => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['203.0.113.9', ['203.0.113.9']],
    ['198.51.100.1, 203.0.113.9:52000', ['198.51.100.1', '203.0.113.9']],
    ['[2001:db8::1]:443,2001:db8::2 , [2001:db8::3]', ['2001:db8::1', '2001:db8::2', '2001:db8::3']],
    ['198.51.100.1, unknown, 203.0.113.9', ['203.0.113.9']],
    ['203.0.113.9, _hidden', []],
    ['203.0.113.9,', []],
    ['', []],
    ['999.1.1.1:80', []],
  ];
  for (const [text, expected] of cases) assert.deepEqual(forwardedAddresses(text), expected, text);
});
