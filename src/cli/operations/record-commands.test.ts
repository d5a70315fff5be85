// `frontdoor why`, `shares inspect` and `shares replay`: what is sent, and what people read.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { fakeApi, runCli, type FakeApi, type Ran } from '../cli-fixture.ts';

const FRONTDOOR = '5c1e0f0a-9d7a-4d7c-8a53-0c4a3f6f2b11';
const BASE = `/frontdoor/${FRONTDOOR}`;
const about = {
  at: '2030-01-01T00:00:00.000Z',
  method: 'POST',
  host: 'app.example.com',
  client: '192.0.2.7',
  identity: 'ann <ann@example.com>',
  decision: 'session',
  status: 502,
  traceId: 'a'.repeat(32),
  timingsMs: { decided: 0.12, circuit: 3, firstByte: null, done: 8.25 },
};
const why = { code: 'no-answer', hop: 'service', cause: 'it closed\u001b[2J the connection' };
const failure = {
  errorId: 'abc123',
  shareToken: 'app',
  ...why,
  remedy: 'See its log.',
  ...about,
  path: '/orders',
};
const { identity: _identity, decision: _decision, ...bare } = about;
const unrouted = {
  errorId: 'nohost1',
  gatewayId: 'g1',
  gatewayName: 'gateway\u001b1',
  code: 'unknown-host',
  hop: 'client',
  cause: 'no share has this host',
  remedy: 'See the endpoints.',
  ...bare,
  path: '/orders',
  status: 404,
};
const message = (body: string, contentType: string) => ({
  headers: [
    { name: 'Content-Type', value: contentType },
    { name: 'Cookie', value: '********' },
  ],
  body: Buffer.from(body).toString('base64'),
  bodyBytes: body.length,
  bodyIsWhole: true,
});
const inspected = {
  id: 'abc123',
  replayOf: null,
  ...about,
  target: '/orders?page=2',
  failure: null,
  request: message('{"a":1}', 'application/json'),
  answer: { ...message('\u0000\u0001binary', 'image/png'), bodyBytes: 90_000, bodyIsWhole: false },
};

let api: FakeApi;
let scopes: string[] = [];
const folder = mkdtempSync(join(tmpdir(), 'frontdoor-record-commands-'));
before(async () => {
  api = await fakeApi(({ url, method }) => {
    if (url === `${BASE}/failures/abc123`) return { status: 200, json: failure };
    if (url === `${BASE}/failures/plain`)
      return {
        status: 200,
        json: { ...failure, code: 'address-not-allowed', cause: 'address-not-allowed' },
      };
    if (url.startsWith(`${BASE}/failures/`))
      return { status: 404, json: { error: 'not_found', message: 'Failure x not found' } };
    if (url === '/failures/nohost1') return { status: 200, json: unrouted };
    if (url.startsWith('/failures/'))
      return { status: 404, json: { error: 'not_found', message: 'Failure x not found' } };
    if (url === '/caller')
      return { status: 200, json: { kind: 'account', id: 'a', organizationId: 'o', scopes } };
    if (url.endsWith('/replay')) return { status: 202, json: { id: 'def456' } };
    if (url.endsWith('/requests/abc123')) return { status: 200, json: inspected };
    if (url.endsWith('/requests/escape'))
      return { status: 200, json: { ...inspected, request: message('\u001b[2J', 'text/plain') } };
    if (url === `${BASE}/shares/app`)
      return { status: 200, json: { frontendEndpoints: ['http://app.example.com:8080'] } };
    assert.equal(method, 'PUT');
    return { status: 200, json: { enabled: true, maxBodyBytes: 1_024, until: about.at } };
  });
});
beforeEach(() => {
  api.seen.length = 0;
  scopes = ['frontdoor.read'];
});
after(() => {
  api.close();
  rmSync(folder, { recursive: true });
});

function run(...args: string[]): Promise<Ran> {
  const env = {
    FRONTDOOR_ACCOUNT_ID: 'a',
    FRONTDOOR_API_TOKEN: 't',
    FRONTDOOR_ID: FRONTDOOR,
    NO_COLOR: '1',
  };
  return runCli([...args, '--api', api.url], env);
}

const lastBody = (): unknown => JSON.parse(api.seen.at(-1)!.body);

test('why prints where and why a request failed, and what to do next', async () => {
  const { out, code } = await run('why', 'abc123');
  assert.equal(code, 0);
  assert.equal(
    out,
    `POST app.example.com/orders to the share app was answered with 502.

Request  abc123, at 2030-01-01T00:00:00.000Z
Where    in the private service, or between the agent and the service
Why      it closed\uFFFD[2J the connection (no-answer)
Next     See its log.
Client   192.0.2.7, identified as ann <ann@example.com>
Access   session
Times    decided after 0.1 ms, circuit after 3.0 ms, no first byte, over after 8.3 ms
Trace    ${'a'.repeat(32)}
`,
  );
  assert.ok(!out.includes('\u001b'));
  assert.deepEqual(JSON.parse((await run('why', 'abc123', '--json')).out), failure);
});

test('a refusal whose cause is its code is not named twice', async () => {
  const { out } = await run('why', 'plain');
  assert.match(out, /^Why {6}address-not-allowed$/m);
});

test('why fails with a message for an unknown or a malformed id', async () => {
  const unknown = await run('why', 'x9');
  assert.notEqual(unknown.code, 0);
  assert.match(unknown.err, /not found/);
  const malformed = await run('why', '../shares');
  assert.notEqual(malformed.code, 0);
  assert.deepEqual(
    api.seen.map(({ url }) => url),
    [`${BASE}/failures/x9`, '/caller'],
  );
});

test('why of a request to a host that no share has is found for administrators, with or without a frontdoor', async () => {
  const text = `POST app.example.com/orders to no share was answered with 404.

Request  nohost1, at 2030-01-01T00:00:00.000Z
Gateway  gateway\uFFFD1
Where    in the gateway, which refused what the client sent
Why      no share has this host (unknown-host)
Next     See the endpoints.
Client   192.0.2.7
Times    decided after 0.1 ms, circuit after 3.0 ms, no first byte, over after 8.3 ms
Trace    ${'a'.repeat(32)}
`;
  scopes = ['frontdoor.read', 'frontdoor.admin'];
  const env = { FRONTDOOR_ACCOUNT_ID: 'a', FRONTDOOR_API_TOKEN: 't', NO_COLOR: '1' };
  const anywhere = (id: string): Promise<Ran> => runCli(['why', id, '--api', api.url], env);
  for (const ran of [await run('why', 'nohost1'), await anywhere('nohost1')])
    assert.deepEqual([ran.code, ran.out], [0, text]);
  assert.deepEqual(JSON.parse((await run('why', 'nohost1', '--json')).out), unrouted);
  assert.match((await run('why', 'x9')).err, /not found/);
  assert.match((await anywhere('x9')).err, /no frontdoor selected/);
  // A caller who is no administrator gets the answer for an unknown id, and the operators' records are not requested.
  scopes = ['frontdoor.read', 'frontdoor.write'];
  api.seen.length = 0;
  const [known, unknown] = [await run('why', 'nohost1'), await run('why', 'x9')];
  assert.deepEqual(known, unknown);
  assert.match((await anywhere('nohost1')).err, /no frontdoor selected/);
  assert.ok(api.seen.every(({ url }) => !url.startsWith('/failures/')));
});

test('recording is switched on for a time and with sizes as people write them, and off', async () => {
  const beforeMs = Date.now();
  const { out } = await run('shares', 'inspect', 'on', 'app', '--bodies', '16KiB', '--for', '30m');
  assert.match(out, /^enabled +true$/m);
  const { method, url } = api.seen.at(-1)!;
  assert.equal(`${method} ${url}`, `PUT ${BASE}/shares/app/inspector`);
  const { enabled, maxBodyBytes, until } = lastBody() as {
    enabled: boolean;
    maxBodyBytes: number;
    until: string;
  };
  assert.deepEqual([enabled, maxBodyBytes], [true, 16_384]);
  const ahead = Date.parse(until) - beforeMs;
  assert.ok(ahead >= 1_800_000 && ahead < 1_830_000, until);
  await run('shares', 'inspect', 'off', 'app');
  assert.deepEqual(lastBody(), { enabled: false });
  api.seen.length = 0;
  for (const wrong of [
    ['--bodies', '65KiB'],
    ['--bodies', 'much'],
    ['--for', '25h'],
    ['--for', '0s'],
  ])
    assert.equal((await run('shares', 'inspect', 'on', 'app', ...wrong)).code, 2, wrong.join(' '));
  assert.equal(api.seen.length, 0);
});

test('a recorded request is shown as it went, what is no text as its size', async () => {
  const { out } = await run('shares', 'inspect', 'show', 'app', 'abc123');
  assert.equal(
    out,
    `abc123, at 2030-01-01T00:00:00.000Z, from 192.0.2.7, identified as ann <ann@example.com>, access: session
decided after 0.1 ms, circuit after 3.0 ms, no first byte, over after 8.3 ms

> POST /orders?page=2
> Content-Type: application/json
> Cookie: ********

{"a":1}

< 502
< Content-Type: image/png
< Cookie: ********

(8 bytes)
(8 of 90000 bytes are shown)
`,
  );
});

test('a replay takes headers as they are written and its body from a file', async () => {
  const file = join(folder, 'body.json');
  writeFileSync(file, '{"a":2}');
  const replay = ['shares', 'replay', 'app', 'abc123'];
  const { out, err } = await run(
    ...replay,
    '--header',
    'X-Try: 2',
    '--header',
    'Accept:text/plain',
    '--body',
    file,
  );
  assert.match(out, /^id +def456$/m);
  assert.match(err, /shares inspect list/);
  assert.equal(api.seen.at(-1)!.url, `${BASE}/shares/app/inspector/requests/abc123/replay`);
  assert.deepEqual(lastBody(), {
    headers: [
      { name: 'X-Try', value: '2' },
      { name: 'Accept', value: 'text/plain' },
    ],
    body: Buffer.from('{"a":2}').toString('base64'),
  });
  await run(...replay);
  assert.deepEqual(lastBody(), {});
  assert.equal((await run(...replay, '--header', 'none')).code, 2);
  assert.notEqual((await run(...replay, '--body', join(folder, 'missing'))).code, 0);
});

test('inspect curl prints a command that sends what was recorded, with places for secrets, and nothing that a terminal acts upon', async () => {
  const { out, code } = await run('shares', 'inspect', 'curl', 'app', 'abc123');
  const address = `'http://app.example.com:8080/orders?page=2'`;
  assert.equal(
    out,
    `curl --globoff --path-as-is -H 'Content-Type: application/json' -H 'Cookie: …' --data-raw '{"a":1}' ${address}\n`,
  );
  assert.equal(code, 0);
  const escape = await run('shares', 'inspect', 'curl', 'app', 'escape', '--json');
  const { curl } = JSON.parse(escape.out) as { readonly curl: string };
  assert.ok(curl.includes(`--data-binary '@…'`) && !curl.includes('\u001b'), curl);
});
