// `frontdoor shares policy change`: one field or one entry changes, everything else stays, and nobody's change is undone.
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { fakeApi, runCli, type FakeAnswer, type FakeApi, type Ran } from '../cli-fixture.ts';

const FRONTDOOR = '5c1e0f0a-9d7a-4d7c-8a53-0c4a3f6f2b11';
const PATH = `/frontdoor/${FRONTDOOR}/shares/app/policy`;
const first = {
  emails: ['ann@example.com'],
  claims: [{ claim: 'groups', anyOf: ['staff'] }],
  basicAuth: [
    { name: 'ann', password: '********' },
    { name: 'bob', password: '********' },
  ],
  ipAllow: [],
  rateLimit: { requests: 10, per: 'PT1M' },
  session: { idle: 'PT8H', absolute: 'P7D' },
};

let api: FakeApi;
let policy: Record<string, unknown> = first;
let version = 1;
/** Someone else is in between, so often. */
let othersChange = 0;
before(async () => {
  api = await fakeApi(({ url, method, body }): FakeAnswer => {
    assert.equal(url, PATH);
    if (method === 'GET') return { status: 200, json: policy, headers: { etag: `"${version}"` } };
    if (othersChange > 0) {
      othersChange -= 1;
      version += 1;
      policy = { ...policy, publicPaths: [`/${version}`] };
    }
    if (api.seen.at(-1)!.request.headers['if-match'] !== `"${version}"`)
      return { status: 412, json: { error: 'precondition_failed', message: 'It has changed' } };
    version += 1;
    policy = JSON.parse(body) as Record<string, unknown>;
    return { status: 200, json: policy };
  });
});
beforeEach(() => {
  api.seen.length = 0;
  policy = first;
  othersChange = 0;
});
after(() => api.close());

function change(...options: readonly string[]): Promise<Ran> {
  const env = { FRONTDOOR_ACCOUNT_ID: 'a', FRONTDOOR_API_TOKEN: 't', FRONTDOOR_ID: FRONTDOOR };
  return runCli(['shares', 'policy', 'change', 'app', ...options, '--api', api.url], env);
}

async function changed(...options: readonly string[]): Promise<Record<string, unknown>> {
  const ran = await change(...options);
  assert.equal(ran.code, 0, ran.err);
  assert.deepEqual(JSON.parse(ran.out), policy);
  return policy;
}

test('a field is set or taken away, and all others stay', async () => {
  assert.deepEqual(await changed('--rate-limit', '5/1s'), {
    ...first,
    rateLimit: { requests: 5, per: 'PT1S' },
  });
  policy = first;
  assert.deepEqual(await changed('--no-rate-limit', '--email', '*@example.com'), {
    ...first,
    rateLimit: null,
    emails: ['*@example.com'],
  });
});

test('single entries of lists are added and removed; an existing user gets the new password', async () => {
  const options = [
    '--add-email',
    '*@example.org',
    '--add-ip-deny',
    '192.0.2.0/24',
    '--remove-claim',
    'groups',
  ];
  const users = ['--remove-basic-auth', 'bob', '--add-basic-auth', 'ann:another-password'];
  assert.deepEqual(await changed(...options, ...users), {
    ...first,
    emails: ['ann@example.com', '*@example.org'],
    claims: [],
    ipDeny: ['192.0.2.0/24'],
    basicAuth: [{ name: 'ann', password: 'another-password' }],
  });
});

test('adding an existing entry, or removing a missing one, changes nothing', async () => {
  const there = await change('--add-email', 'ann@example.com');
  assert.equal(there.code, 0);
  assert.match(there.err, /Nothing was changed/);
  const missing = await change('--remove-email', 'carl@example.com', '--no-rate-limit');
  assert.equal(missing.code, 2);
  assert.match(missing.err, /no such entry in emails; it has ann@example\.com/);
  assert.match((await change()).err, /nothing to change was given/);
  assert.ok(api.seen.every(({ method }) => method === 'GET'));
});

test('a concurrent change is read again and kept; the retries are bounded', async () => {
  othersChange = 2;
  const after = await changed('--add-email', '*@example.org');
  assert.deepEqual(after['emails'], ['ann@example.com', '*@example.org']);
  assert.deepEqual(after['publicPaths'], [`/${version - 1}`]);
  othersChange = 1_000;
  const never = await change('--add-email', '*@example.net');
  assert.notEqual(never.code, 0);
  assert.match(never.err, /It has changed/);
  assert.ok(api.seen.length < 20);
});
