import assert from 'node:assert/strict';
import { test } from 'node:test';
import { disagreements, type TlsFacts } from './tls-agreement.ts';

const FACTS: TlsFacts = {
  certificate: 'AA',
  protocol: 'TLSv1.3',
  cipher: 'TLS_AES_128_GCM_SHA256',
  exchange: 'ECDH X25519',
  alpn: 'http/1.1',
  tickets: 2,
  resumes: true,
};

test('doors with the same TLS may be compared', () => {
  assert.deepEqual(
    disagreements(
      new Map([
        ['nginx', FACTS],
        ['up', { ...FACTS }],
      ]),
    ),
    [],
  );
  assert.deepEqual(disagreements(new Map()), []);
});

test('a door with another cipher or without resumption is named with what differs', () => {
  const other = { ...FACTS, cipher: 'TLS_AES_256_GCM_SHA384', resumes: false };
  assert.deepEqual(
    disagreements(
      new Map([
        ['nginx', FACTS],
        ['up', other],
      ]),
    ),
    ['cipher: up TLS_AES_256_GCM_SHA384, nginx TLS_AES_128_GCM_SHA256', 'resumes: up false, nginx true'],
  );
});
