// Following changes over streams that break: the position is kept, and lost changes are reported.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { runCli } from '../cli-fixture.ts';

const FRONTDOOR = '5c1e0f0a-9d7a-4d7c-8a53-0c4a3f6f2b11';

test('prints kinds and ids, resumes at the last position, and reports changes that are lost', async (t) => {
  const streams = [
    'retry: 1000\nid: e-1\n\nevent: change\ndata: {"kind":"share","id":"app"}\n\n: alive\nid: e-2\n\n',
    'id: f-0\nevent: reset\ndata: {}\n\nid: f-1\nevent: change\ndata: {"kind":"environment","id":"x"}\n\n',
  ];
  const asked: unknown[] = [];
  const server = createServer((request, response) => {
    asked.push([request.url, request.headers['last-event-id']]);
    const text = streams.shift();
    response.writeHead(text === undefined ? 401 : 200, {
      'content-type': text === undefined ? 'application/json' : 'text/event-stream',
    });
    response.end(text ?? '{"error":"unauthorized","message":"revoked"}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { FRONTDOOR_ACCOUNT_ID: 'a', FRONTDOOR_API_TOKEN: 't', FRONTDOOR_ID: FRONTDOOR };
  const ran = await runCli(['changes', 'follow', '--api', url], env);
  assert.equal(ran.code, 3);
  assert.equal(ran.out, 'share  app\nenvironment  x\n');
  assert.match(ran.err, /^frontdoor: some changes are no longer available.*\nfrontdoor: revoked\n$/);
  const path = `/frontdoor/${FRONTDOOR}/changes`;
  assert.deepEqual(asked, [
    [path, undefined],
    [path, 'e-2'],
    [path, 'f-1'],
  ]);
});
