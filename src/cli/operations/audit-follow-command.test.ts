// Following the audit trail over streams that break: nothing is lost or repeated, a refusal ends it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, test } from 'node:test';
import { runCli, type Ran } from '../cli-fixture.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

/** Runs the command against a server that gives these answers, one for each connection. */
async function follow(
  answers: readonly Answer[],
  args: readonly string[] = [],
): Promise<Ran & { ids: unknown[]; urls: unknown[] }> {
  const [ids, urls]: [unknown[], unknown[]] = [[], []];
  const server = createServer((request, response) => {
    const answer = answers[ids.length] ?? refuse;
    ids.push(request.headers['last-event-id']);
    urls.push(request.url);
    assert.equal(request.headers.accept, 'text/event-stream');
    answer(response, request);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { FRONTDOOR_ACCOUNT_ID: 'a', FRONTDOOR_API_TOKEN: 't' };
  return { ...(await runCli(['audit', 'follow', '--api', url, ...args], env)), ids, urls };
}

const refuse: Answer = (response) => {
  response.writeHead(401, { 'content-type': 'application/json' });
  response.end('{"error":"unauthorized","message":"revoked"}');
};
const event = (sequence: number, fields: object = {}): string => {
  const actor = { kind: 'account', id: 'a' };
  const target = { kind: 'share', id: 'app' };
  const data = { at: 'now', actor, action: 'createShare', target, result: 'ok', reason: null, ...fields };
  return `id: ${sequence}\nevent: audit\ndata: ${JSON.stringify(data)}\n\n`;
};
const stream =
  (...parts: readonly string[]): Answer =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const part of parts) response.write(part);
    response.end();
  };

test('a stream that ends is resumed after its last event; a refusal ends the command', async () => {
  const ran = await follow([
    stream(': hello\n\n', event(5), event(6)),
    stream(event(7, { result: 'refused', reason: 'late' })),
  ]);
  assert.equal(ran.code, 3);
  assert.equal(ran.err, 'frontdoor: revoked\n');
  const line = 'now  account a  createShare  share app';
  assert.equal(ran.out, `${line}  ok\n${line}  ok\n${line}  refused  late\n`);
  assert.deepEqual(ran.ids, [undefined, '6', '7']);
});

test('a broken connection is reported and opened again', async () => {
  const broken: Answer = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`${event(1)}id: 2\ndata: {"half`, () => response.destroy());
  };
  const ran = await follow([broken, stream(event(2))], ['--json-lines', '--after', '0', '--action', 'x']);
  assert.equal(ran.out.trim().split('\n').length, 2);
  assert.match(ran.err, /retrying\n\{"error":"unauthorized"/);
  assert.deepEqual(ran.ids, ['0', '1', '2']);
  assert.deepEqual(new Set(ran.urls), new Set(['/audit-events?action=x']));
});

test('an event that is no JSON ends it, and one cannot steer the terminal', async () => {
  const odd = await follow([stream('id: 1\ndata: text\n\n')]);
  assert.deepEqual([odd.code, odd.out], [8, '']);
  assert.match(odd.err, /not JSON/);
  const hostile = await follow([stream(event(1, { action: '\u001B[2J' }))]);
  assert.match(hostile.out, /\uFFFD\[2J/);
});
