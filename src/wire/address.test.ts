import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAddress, parseAddress } from './address.ts';

test('an address is protocol, host and port; IPv6 hosts stand in brackets', () => {
  assert.deepEqual(parseAddress('tls:ctrl.example:6262'), { type: 'tls', host: 'ctrl.example', port: 6262 });
  assert.deepEqual(parseAddress('tls:[::1]:0'), { type: 'tls', host: '::1', port: 0 });
  assert.deepEqual(parseAddress('tls::65535'), { type: 'tls', host: '', port: 65_535 });
  for (const text of ['tls:ctrl.example:6262', 'tls:[::1]:0', 'tls:0.0.0.0:3022']) {
    assert.equal(formatAddress(parseAddress(text)!), text);
  }
});

test('everything else is none: URLs, bare IPv6, ports out of range, unknown or unlisted protocols', () => {
  for (const text of [
    '',
    'tls',
    'tls:host',
    'host:6262',
    'tls://host:6262',
    'tls:::1:6262',
    'tls:[::1:6262',
    'tls:host:65536',
    'tls:host:-1',
    'tls:host:port',
    'tls:host:6262 ',
    'TLS:host:6262',
    'tcp:host:6262',
    'transwarp:host:6262',
  ]) {
    assert.equal(parseAddress(text), undefined, text);
  }
  assert.equal(parseAddress('tcp:host:1', ['tls', 'tcp'])?.type, 'tcp');
});
