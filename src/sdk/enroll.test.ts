import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { fetchBootstrapToken } from './enroll.ts';

const CODE = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
let server: Server;
let apiUrl: string;
before(async () => {
  server = createServer((request, response) => {
    if (request.url === `/base/frontdoor/agents/bootstrap-token/${CODE}`) {
      response.end(JSON.stringify({ frontdoorId: 'f', token: 'a.b.c', expiresAt: '2030-01-01T00:00:00Z' }));
    } else if (request.url?.endsWith('/limited') === true) {
      response.writeHead(429).end('{"error":"rate_limited","message":"Too many requests"}');
    } else {
      response.writeHead(404).end('{"error":"not_found","message":"x"}');
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  apiUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`;
});
after(() => server.close());

test('a code is traded for a token', async () => {
  const found = await fetchBootstrapToken({ apiUrl, code: CODE });
  assert.deepEqual(found, { frontdoorId: 'f', token: 'a.b.c', expiresAt: '2030-01-01T00:00:00Z' });
});

test('the error for a refused code names the remedy and does not repeat the code', async () => {
  await assert.rejects(
    fetchBootstrapToken({ apiUrl, code: 'SECRET/../CODE' }),
    (error: Error & { code?: string }) => {
      assert.equal(error.code, 'enrollment-code-refused');
      assert.match(error.message, /create a new one/);
      assert.ok(!error.message.includes('SECRET'));
      return true;
    },
  );
  await assert.rejects(fetchBootstrapToken({ apiUrl, code: 'limited' }), {
    kind: 'limited',
    code: 'rate_limited',
  });
});

test('a code travels in clear to the own machine alone', async () => {
  for (const url of [
    'http://frontdoor.example',
    'http://localhost.example',
    'http://10.0.0.1:8081',
    'ftp://localhost',
    'x',
  ]) {
    await assert.rejects(fetchBootstrapToken({ apiUrl: url, code: CODE }), { kind: 'invalid' }, url);
  }
  await assert.rejects(fetchBootstrapToken({ apiUrl: 'http://127.0.0.1:1', code: CODE }), {
    kind: 'unavailable',
  });
});
