// From command lines to requests: what is given is sent, nothing is invented.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { fakeApi, runCli, type FakeApi, type Ran } from '../cli-fixture.ts';
import type { CliIo } from '../cli-io.ts';

const OWN = '5c1e0f0a-9d7a-4d7c-8a53-0c4a3f6f2b11';
const E1 = '0d8a64f8-6a52-4f0e-9d5e-4b8c0d1c7a22';
const E2 = '7f0c9d1e-1a2b-4c3d-8e4f-5a6b7c8d9e0f';

const folder = mkdtempSync(join(tmpdir(), 'request-'));
let api: FakeApi;
before(async () => {
  api = await fakeApi(({ url, method }) => {
    if (url === '/caller') return { status: 200, json: { organizationId: 'own', id: 'a', scopes: [] } };
    if (method === 'DELETE') return { status: 204 };
    return { status: 200, json: url.includes('?') ? { content: [] } : { id: '1' } };
  });
});
beforeEach(() => void (api.seen.length = 0));
after(() => {
  api.close();
  rmSync(folder, { recursive: true, force: true });
});

async function run(line: readonly string[], more: Partial<CliIo> = {}): Promise<Ran> {
  const env = { FRONTDOOR_ACCOUNT_ID: 'a', FRONTDOOR_API_TOKEN: 't', FRONTDOOR_ID: OWN };
  return runCli([...line, '--api', api.url], env, more);
}

async function sent(line: readonly string[], more: Partial<CliIo> = {}): Promise<[string, string, unknown]> {
  const ran = await run(line, more);
  assert.equal(ran.code, 0, ran.err);
  const { method, url, body } = api.seen.at(-1)!;
  return [method, url, body === '' ? undefined : JSON.parse(body)];
}

test('only the fields that are given are sent; lists repeat, "none" empties, switches have two sides', async () => {
  const path = `/frontdoor/${OWN}/shares/app`;
  assert.deepEqual(await sent(['shares', 'change', 'app', '--target', 'http://a']), [
    'PATCH',
    path,
    { target: 'http://a' },
  ]);
  const line = ['--grant', E1, '--grant', E2, '--no-auth-provider-id', '--no-name', '--no-reserved'];
  assert.deepEqual(await sent(['shares', 'change', 'app', ...line]), [
    'PATCH',
    path,
    { grants: [E1, E2], authProviderIds: [], name: null, reserved: false },
  ]);
  assert.deepEqual(await sent(['shares', 'change', 'app', '--reserved']), [
    'PATCH',
    path,
    { reserved: true },
  ]);
});

test('a body comes from the argument, a file or standard input, with single fields put over it', async () => {
  const file = join(folder, 'body.json');
  writeFileSync(file, '{"name":"file","data":{"a":1}}');
  const line = ['auth-providers', 'change', E1];
  assert.deepEqual((await sent([...line, '--body', `@${file}`]))[2], { name: 'file', data: { a: 1 } });
  assert.deepEqual((await sent([...line, '--body', '{"name":"a"}', '--name', 'b', '--no-enabled']))[2], {
    name: 'b',
    enabled: false,
  });
  const input = (): Promise<string> => Promise.resolve('{"client_secret":"typed"}');
  assert.deepEqual((await sent([...line, '--data', '-'], { input }))[2], {
    data: { client_secret: 'typed' },
  });
  for (const wrong of ['[]', 'null', '{"secret-text', `@${join(folder, 'none')}`]) {
    const ran = await run([...line, '--body', wrong]);
    assert.equal(ran.code, 2);
    assert.doesNotMatch(ran.err, /secret-text/);
  }
});

test('lists of objects are given as JSON, or in their short form, one entry each time', async () => {
  const [method, url, body] = await sent([
    'shares',
    'policy',
    'set',
    'app',
    '--email',
    '*@example.com',
    '--no-expires-at',
    '--claim',
    '{"claim":"groups","anyOf":["staff"]}',
    '--claim',
    '{"claim":"level","anyOf":["3"]}',
  ]);
  assert.deepEqual([method, url], ['PUT', `/frontdoor/${OWN}/shares/app/policy`]);
  assert.deepEqual(body, {
    emails: ['*@example.com'],
    claims: [
      { claim: 'groups', anyOf: ['staff'] },
      { claim: 'level', anyOf: ['3'] },
    ],
    expiresAt: null,
  });
  for (const wrong of ['{"password":"secret-text', ':secret-text', 'secret-text']) {
    const ran = await run(['shares', 'policy', 'set', 'app', '--basic-auth', wrong]);
    assert.equal(ran.code, 2);
    assert.doesNotMatch(ran.err, /secret-text/);
  }
  const ca = join(folder, 'ca.pem');
  const pem = (text: string): string => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`;
  writeFileSync(ca, `Bag attributes\n${pem('YQ==')}${pem('Yg==')}`);
  const short = ['--claim', 'groups=staff,admins', '--basic-auth', 'ann:pass:word', '--rate-limit', '100/m'];
  const more = ['--session', 'idle=30m, absolute=P7D', '--client-certificate', `@${ca}`];
  assert.deepEqual((await sent(['shares', 'policy', 'set', 'app', ...short, ...more]))[2], {
    claims: [{ claim: 'groups', anyOf: ['staff', 'admins'] }],
    basicAuth: [{ name: 'ann', password: 'pass:word' }],
    rateLimit: { requests: 100, per: 'PT1M' },
    session: { idle: 'PT30M', absolute: 'P7D' },
    clientCertificate: { authorities: [pem('YQ=='), pem('Yg==')] },
  });
  for (const wrong of [
    '--rate-limit=100',
    '--rate-limit=x/1m',
    '--session=8h',
    '--claim=groups',
    '--claim==a',
  ]) {
    const ran = await run(['shares', 'policy', 'set', 'app', wrong]);
    assert.equal(ran.code, 2, wrong);
    assert.match(ran.err, /must be like .*, or JSON/);
  }
});

test('headers of a share are set, added and removed by their sign', async () => {
  const change = ['shares', 'upstream', 'change', 'app'];
  const given = ['--request-header', 'X-A: b: c', '--request-header', '+X-A:d', '--response-header=-Server'];
  const [method, url, body] = await sent([...change, '--host-header', 'target', ...given]);
  assert.deepEqual([method, url], ['PATCH', `/frontdoor/${OWN}/shares/app/upstream`]);
  assert.deepEqual(body, {
    hostHeader: 'target',
    requestHeaders: [
      { action: 'set', name: 'X-A', value: 'b: c' },
      { action: 'add', name: 'X-A', value: 'd' },
    ],
    responseHeaders: [{ action: 'remove', name: 'Server' }],
  });
  for (const wrong of ['X-A', '-X-A: b', '+X-A', ': b', 'X A: b'])
    assert.equal((await run([...change, `--request-header=${wrong}`])).code, 2, wrong);
});

test('answers of a gateway have a short form', async () => {
  const change = ['shares', 'upstream', 'change', 'app'];
  const given = ['--answer', '/robots.txt=a=b', '--answer', '/old/*=>https://new.example/*?x=y'];
  const [, , body] = await sent([...change, ...given]);
  assert.deepEqual(body, {
    answers: [
      { path: '/robots.txt', text: 'a=b' },
      { path: '/old/*', redirectTo: 'https://new.example/*?x=y' },
    ],
  });
  for (const wrong of ['robots.txt=a', '/a', '=b'])
    assert.equal((await run([...change, '--answer', wrong])).code, 2, wrong);
});

test('an empty replacement is sent when it is asked for, an empty query always', async () => {
  const set = ['shares', 'policy', 'set', 'app'];
  assert.equal((await run(set)).code, 2);
  assert.deepEqual((await sent([...set, '--body', '{}']))[2], {});
  const ran = await run(['shares', 'who-can-reach', 'app', '--json']);
  assert.equal(ran.code, 0, ran.err);
  assert.deepEqual(JSON.parse(api.seen.at(-1)!.body), {});
});

test('all missing fields are reported at once, before anything is sent', async () => {
  const ran = await run(['shares', 'create', '--share-mode', 'public']);
  assert.deepEqual(ran, {
    out: '',
    err: 'frontdoor: --environment-id, --backend-mode, --target are needed\n',
    code: 2,
  });
  assert.match((await run(['shares', 'change', 'app'])).err, /nothing to change/);
  assert.equal((await run(['shares', 'create', '--share-mode', 'secret'])).code, 2);
  assert.equal((await run(['api-accounts', 'create', '--scope', 'frontdoor.all', '--name', 'x'])).code, 2);
  assert.deepEqual(api.seen, []);
});

test('arguments are escaped, and a path parameter cannot become a path', async () => {
  assert.equal(
    (await sent(['shares', 'get', '../../caller?x=1']))[1],
    `/frontdoor/${OWN}/shares/..%2F..%2Fcaller%3Fx%3D1`,
  );
  assert.equal((await sent(['frontdoors', 'get', E1]))[1], `/frontdoor/${E1}`);
  assert.equal((await sent(['frontdoors', 'get']))[1], `/frontdoor/${OWN}`);
  assert.equal((await run(['frontdoors', 'delete'])).code, 2);
  assert.equal(
    (await sent(['environments', 'get', E1, '--frontdoor', E2]))[1],
    `/frontdoor/${E2}/environments/${E1}`,
  );
});

test('an argument may come from standard input, and is not taken for absent when nothing comes', async () => {
  const input = (): Promise<string> => Promise.resolve('CODE\n');
  assert.equal((await sent(['agents', 'jwt', '-'], { input }))[1], '/frontdoor/agents/bootstrap-token/CODE');
  assert.match((await run(['agents', 'jwt', '-'])).err, /enrollmentCode is empty/);
});

test("the caller's own organization is meant where one is needed, and no other is put in", async () => {
  assert.equal((await sent(['frontdoors', 'list']))[1], '/organizations/own/frontdoors?page=0&size=200');
  assert.deepEqual((await sent(['frontdoors', 'create', '--name', 'x']))[2], {
    name: 'x',
    organizationId: 'own',
  });
  assert.deepEqual(
    (await sent(['frontdoors', 'create', '--body', '{"name":"x","organizationId":"given"}']))[2],
    {
      name: 'x',
      organizationId: 'given',
    },
  );
  assert.equal(
    (await sent(['frontdoors', 'find', '--organization', E2, '--json']))[1],
    `/frontdoor?organizationId=${E2}`,
  );
  assert.equal((await sent(['api-accounts', 'list']))[1], '/api-accounts?page=0&size=200');
  assert.equal((await sent(['organizations', 'settings']))[1], '/organizations/own/settings');
});

test('one page is asked for as it is named, and a limit is the size of the only page', async () => {
  assert.equal(
    (await sent(['shares', 'list', '--page', '2', '--size', '50']))[1],
    `/frontdoor/${OWN}/shares?page=2&size=50`,
  );
  assert.equal(
    (await sent(['shares', 'list', '--limit', '3', '--sort', 'name,desc']))[1],
    `/frontdoor/${OWN}/shares?sort=name%2Cdesc&page=0&size=3`,
  );
  for (const wrong of ['-1', 'x', '1.5', ''])
    assert.equal((await run(['shares', 'list', '--page', wrong])).code, 2, wrong);
});

test('an empty list is reported on standard error, and is an empty array as JSON', async () => {
  assert.deepEqual(await run(['shares', 'list']), { out: '', err: 'no shares\n', code: 0 });
  assert.deepEqual(await run(['shares', 'list', '--json']), { out: '[]\n', err: '', code: 0 });
  assert.deepEqual(await run(['shares', 'list', '--json-lines']), { out: '', err: 'no shares\n', code: 0 });
});

test('a deletion is reported, and prints nothing as JSON', async () => {
  assert.deepEqual(await run(['shares', 'delete', 'app']), { out: 'deleted app\n', err: '', code: 0 });
  assert.deepEqual(await run(['shares', 'delete', 'app', '--json']), { out: '', err: '', code: 0 });
});
