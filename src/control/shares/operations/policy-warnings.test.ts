// Rules of policies that decide nothing, or admit nobody, as the share is guarded: refused, or reported with the remedy.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { ShareAnswer, SharePolicyAnswer } from '#contract/schemas';
import { lineOf, recordingLog } from '../../../../test/support/recording-log.ts';
import { PolicyCheck } from '../records/policy-check.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';

const PEOPLE = { emails: ['*@example.com'] };
const CLAIMS = { claims: [{ claim: 'groups', anyOf: ['ops'] }] };
const USERS = { basicAuth: [{ name: 'basil', password: 'a long password' }] };
const DATA = {
  OIDC: { issuer: 'https://idp.example.com', client_id: 'c', client_secret: 'very-secret-indeed' },
  API_KEY: { placement: 'header', name: 'x-key', keys: [{ name: 'build' }] },
};

describe('rules about people', () => {
  let world: ApiWorld;
  let root: string;
  let environmentId: string;
  let [staff, keys]: [string, string] = ['', ''];
  before(async () => {
    world = await openApiWorld();
    root = `/frontdoor/${world.first.frontdoorId}`;
    environmentId = await world.addEnvironment('edge');
    for (const name of ['app', 'other']) await call('POST', 'shares', shareOf(name), 201);
  });
  beforeEach(async () => {
    for (const name of ['app', 'other']) {
      await call('PUT', `shares/${name}/policy`, {});
      await call('PATCH', `shares/${name}`, { authProviderIds: [] });
    }
    [staff, keys] = [await provider('OIDC'), await provider('API_KEY')];
  });
  after(() => world.close());

  const shareOf = (name: string) => ({
    name,
    environmentId,
    shareMode: 'public',
    backendMode: 'proxy',
    target: 'http://127.0.0.1:3000',
  });
  async function call<T>(method: string, path: string, body?: unknown, status = 200): Promise<T> {
    const answer = await world.call(method, `${root}/${path}`, body === undefined ? {} : { body });
    assert.equal(answer.status, status, answer.text);
    return answer.body as T;
  }
  let count = 0;
  async function provider(type: keyof typeof DATA): Promise<string> {
    count += 1;
    const body = { name: `${type}-${count}`.toLowerCase(), type, data: DATA[type] };
    return (await call<{ id: string }>('POST', 'auth-providers', body, 201)).id;
  }
  const guard = (name: string, ...authProviderIds: string[]) =>
    call('PATCH', `shares/${name}`, { authProviderIds });
  const put = (name: string, body: object, status = 200) =>
    call<SharePolicyAnswer & { message: string }>('PUT', `shares/${name}/policy`, body, status);
  const warned = async (name: string) =>
    (await call<SharePolicyAnswer>('GET', `shares/${name}/policy`)).warnings.map(({ field }) => field);

  /** A policy as an earlier version stored it. */
  async function store(name: string, policy: object): Promise<void> {
    const [before, share] = [await put(name, { contact: 'a@b.example' }), await stored(name)];
    const { warnings: _none, ...rules } = before;
    const data = JSON.stringify({ ...rules, ...policy });
    await world.store.db.updateTable('share_policy').set({ data }).where('share_id', '=', share.id).execute();
  }
  const stored = (token: string) =>
    world.store.db.selectFrom('share').selectAll().where('token', '=', token).executeTakeFirstOrThrow();

  it('are refused where nobody can prove who a person is, with the remedy, and nothing is stored', async () => {
    for (const rules of [PEOPLE, CLAIMS, { ...PEOPLE, ...USERS }])
      for (const ids of [[], [keys]]) {
        await guard('app', ...ids);
        const { message } = await put('app', rules, 409);
        assert.match(message, /nobody would be admitted: first give the share an auth provider of type OIDC/);
        assert.deepEqual((await call<SharePolicyAnswer>('GET', 'shares/app/policy')).emails, []);
      }
    await guard('app', staff, keys);
    assert.deepEqual((await put('app', { ...PEOPLE, ...USERS })).warnings, []);
  });

  it('keep the last provider that proves people: it is not taken away, and keeps to prove them', async () => {
    await guard('app', staff, keys);
    await put('app', PEOPLE);
    for (const authProviderIds of [[], [keys]]) await call('PATCH', 'shares/app', { authProviderIds }, 409);
    const body = {
      type: 'API_KEY',
      data: { ...DATA.API_KEY, issuer: null, client_id: null, client_secret: null },
    };
    const refused = await call<{ message: string }>('PATCH', `auth-providers/${staff}`, body, 409);
    assert.match(refused.message, /only this auth provider proves: app\./);
    await guard('app', staff, await provider('OIDC'));
    await call('PATCH', `auth-providers/${staff}`, body);
    await put('app', {});
    await guard('app');
  });

  it('that an earlier version stored are named by the policy, the list, and the log of the start', async () => {
    await store('app', PEOPLE);
    assert.deepEqual(await warned('app'), ['emails']);
    // Other fields of the share can be changed.
    await call('PATCH', 'shares/app', { target: 'http://127.0.0.1:3001' });
    const { warnings, hasMore } = await call<{
      warnings: { token: string; message: string }[];
      hasMore: boolean;
    }>('GET', 'policy-warnings');
    assert.deepEqual([warnings.map(({ token }) => token), hasMore], [['app'], false]);
    assert.match(
      warnings[0]!.message,
      /^emails admits nobody: .*"frontdoor shares change app --auth-provider-id/,
    );
    const lines: string[] = [];
    const log = recordingLog((record) => void lines.push(lineOf(record)));
    await new PolicyCheck({ store: world.store, log }).close();
    assert.deepEqual(lines, [], 'a check that is closed at once is silent');
    await new PolicyCheck({ store: world.store, log }).done;
    assert.match(lines.join(''), /admitted there/);
    assert.match(lines.join(''), /"shares":\["app"\],"count":1/);
    await guard('app', staff);
    assert.deepEqual(await warned('app'), []);
  });

  it('have a warning for the names at which nobody can prove them, where a custom frontend guards others', async () => {
    const frontends = await call<{ id: string }[]>('GET', 'frontends');
    const custom = { hostname: 'apps.example.com', frontendId: frontends[0]!.id, authProviderIds: [staff] };
    const { id } = await call<{ id: string }>('POST', 'custom-frontends', custom, 201);
    await world.grant(id);
    try {
      const { warnings } = await put('app', PEOPLE);
      assert.equal(warnings.length, 1);
      assert.match(warnings[0]!.message, /^emails admits nobody at app\.share\.localhost: /);
    } finally {
      await put('app', {});
      await call('DELETE', `custom-frontends/${id}`, undefined, 204);
    }
  });

  it('are part of the sentence about who may come in, which follows each change', async () => {
    const said = async () => (await call<ShareAnswer>('GET', 'shares/app')).access;
    assert.deepEqual(await said(), { admits: 'everyone', summary: 'Everyone' });
    await put('app', { ...USERS, ipAllow: ['192.0.2.0/24'] });
    assert.deepEqual(await said(), { admits: 'some', summary: '1 user with a password from 192.0.2.0/24' });
    await put('app', { expiresAt: '2020-05-12T00:00:00Z' });
    assert.deepEqual(await said(), { admits: 'nobody', summary: 'Closed since 12 May 2020' });
    await guard('app', staff);
    await put('app', PEOPLE);
    const { content } = await call<{ content: ShareAnswer[] }>('GET', 'shares?page=0&size=20&sort=name,asc');
    const name = `oidc-${count - 1}`;
    assert.deepEqual(
      content.map(({ access }) => access.summary),
      [`*@example.com who sign in with ${name}`, 'Everyone'],
    );
    await call('PATCH', `auth-providers/${staff}`, { enabled: false });
    assert.equal((await said()).summary, 'Nobody: every auth provider is disabled');
  });

  it('and others without effect are reported as such', async () => {
    const rules = {
      publicPaths: ['/health'],
      session: { idle: 'PT1H' },
      allowedOrigins: ['https://other.example'],
      allowPreflights: true,
    };
    await put('app', rules);
    assert.deepEqual(await warned('app'), ['publicPaths', 'session', 'allowedOrigins', 'allowPreflights']);
    await guard('app', keys);
    assert.deepEqual(await warned('app'), ['session', 'allowedOrigins']);
    await guard('app', staff);
    assert.deepEqual(await warned('app'), []);
    await guard('app');
    await call('PATCH', 'shares/app', { shareMode: 'private' });
    await put('app', { ipAllow: ['192.0.2.0/24'], ipDeny: ['192.0.2.1'] });
    assert.deepEqual(await warned('app'), ['ipAllow', 'ipDeny']);
    await put('app', PEOPLE);
    const back = await call<{ message: string }>('PATCH', 'shares/app', { shareMode: 'public' }, 409);
    assert.match(back.message, /nobody would be admitted/);
    await put('app', {});
    await call('PATCH', 'shares/app', { shareMode: 'public' });
  });
});
