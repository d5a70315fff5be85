import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTrustedProxy, parseTrustedProxies } from './trusted-proxy-policy.ts';

test('proxies are addresses and networks; nothing else is trusted', () => {
  const proxies = parseTrustedProxies('127.0.0.1, 10.1.0.0/16,fd00::/8')!;
  for (const address of ['127.0.0.1', '::ffff:127.0.0.1', '10.1.2.3', 'fd12::1'])
    assert.equal(isTrustedProxy(proxies, address), true, address);
  for (const address of ['127.0.0.2', '10.2.0.1', 'fe80::1', '::1', '', 'unknown', '10.1.2.3:80'])
    assert.equal(isTrustedProxy(proxies, address), false, address);
  for (const text of ['', 'localhost', '10.0.0.0/33', '10.0.0.1,', '10.0.0.0/8;10.0.0.1', '*'])
    assert.equal(parseTrustedProxies(text), undefined, text);
});
