import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatHostPort, isLoopbackHost } from './host-names.ts';

test('loopback is localhost, 127.0.0.0/8 and ::1, whichever way it is written, and nothing that begins alike', () => {
  for (const host of ['localhost', '127.0.0.1', '127.9.8.7', '::1', '[::1]'])
    assert.ok(isLoopbackHost(host), host);
  for (const host of ['localhost.example', '127.0.0.1.example', '127.example', '0.0.0.0', '::', '']) {
    assert.equal(isLoopbackHost(host), false, host);
  }
});

test('an IPv6 literal stands in brackets before its port', () => {
  assert.equal(formatHostPort('::1', 80), '[::1]:80');
  assert.equal(formatHostPort('frontdoor.example', 443), 'frontdoor.example:443');
});
