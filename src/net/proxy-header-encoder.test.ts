import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeProxyHeader } from './proxy-header-decoder.ts';
import { encodeProxyHeader } from './proxy-header-encoder.ts';

test('a PROXY header names its client in either version, as its reader reads it', () => {
  for (const version of ['v1', 'v2'] as const) {
    for (const address of ['203.0.113.7', '2001:db8::7']) {
      const bytes = encodeProxyHeader(version, { address, isSecure: true });
      assert.deepEqual(decodeProxyHeader(bytes), {
        ...{ kind: 'header', bytes: bytes.length, address, isSecure: false },
      });
    }
  }
});

test('a PROXY header without a client, or with an address that is none, names none', () => {
  for (const version of ['v1', 'v2'] as const) {
    for (const client of [undefined, { address: '1.2.3.4 5.6.7.8 1 2\r\nGET', isSecure: false }]) {
      const bytes = encodeProxyHeader(version, client);
      assert.deepEqual(decodeProxyHeader(bytes), {
        ...{ kind: 'header', bytes: bytes.length, address: undefined, isSecure: false },
      });
    }
  }
});
