// `frontdoor shares access`: who has access, as sentences.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fakeApi, runCli, type FakeApi } from '../cli-fixture.ts';

const BASE = '/frontdoor/5c1e0f0a-9d7a-4d7c-8a53-0c4a3f6f2b11';
const share = { token: 'app', shareMode: 'public', authProviderIds: ['p1', 'p2'] };
const answers: Readonly<Record<string, object>> = {
  [`${BASE}/shares/app`]: share,
  [`${BASE}/shares/app/policy`]: {
    emails: ['*@example.com'],
    expiresAt: '2200-05-12T08:00:00.000Z',
    countries: ['NZ'],
    warnings: [],
  },
  [`${BASE}/auth-providers/p1`]: { id: 'p1', name: 'Goo\u001bgle', type: 'GOOGLE', enabled: true },
  [`${BASE}/auth-providers/p2`]: { id: 'p2', name: 'CI', type: 'API_KEY', enabled: true },
  [`${BASE}/shares/own`]: {
    ...share,
    shareMode: 'private',
    access: { admits: 'some', summary: '2 granted machines' },
  },
};

let api: FakeApi;
before(async () => {
  api = await fakeApi(({ url }) => ({ status: 200, json: answers[url]! }));
});
after(() => api.close());

function access(...options: readonly string[]) {
  const env = {
    FRONTDOOR_ACCOUNT_ID: 'a',
    FRONTDOOR_API_TOKEN: 't',
    FRONTDOOR_ID: '5c1e0f0a-9d7a-4d7c-8a53-0c4a3f6f2b11',
  };
  return runCli(['shares', 'access', ...options, '--api', api.url], env);
}

test('each rule is a sentence, also one that this version does not know', async () => {
  const { out, code } = await access('app');
  assert.equal(code, 0);
  assert.match(out, /^Visitors sign in with Goo.*gle\.\nPrograms present a key of CI\.\n/);
  assert.ok(!out.includes('\u001b'));
  assert.match(out, /^Only \*@example\.com\.\nUntil 2200-05-12 08:00 UTC\.\nThe rule countries is set/m);
  assert.equal((await access('own')).out, '2 granted machines\n');
  const json = JSON.parse((await access('own', '--json')).out) as unknown;
  assert.deepEqual(json, { sentences: [{ field: 'grants', text: '2 granted machines' }] });
});
