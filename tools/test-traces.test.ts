import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { checkTraces, takeTraces } from './test-traces.ts';

test('a resource that keeps the process from ending has to be closed', async () => {
  const before = takeTraces();
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  await assert.rejects(checkTraces(before, { closingMs: 0 }), /left open: 1 TCPServerWrap/);
  const checked = checkTraces(before);
  server.close();
  await checked;
});
