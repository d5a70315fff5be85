// Shared policies: one change is a change of all their shares, and nothing opens when a share leaves one.
import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { AnswerOf } from '#contract';
import type { AccessExplanationAnswer, ShareAnswer, SharePolicyAnswer } from '#contract/schemas';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { putFailures } from '../records/request-record-store.ts';
import { openApiWorld, type ApiWorld } from './api-fixture.ts';

const PEOPLE = { emails: ['*@example.com'] };
const DENIED = { ipDeny: ['203.0.113.0/24'] };

describeEachStore('shared policies', (open) => {
  let world: ApiWorld;
  let root: string;
  let environmentId: string;
  before(async () => {
    world = await openApiWorld({ open });
    root = `/frontdoor/${world.first.frontdoorId}`;
    environmentId = await world.addEnvironment('edge');
  });
  after(() => world.close());

  async function call<T>(method: string, path: string, body?: unknown, status = 200): Promise<T> {
    const answer = await world.call(method, `${root}/${path}`, body === undefined ? {} : { body });
    assert.equal(answer.status, status, answer.text);
    return answer.body as T;
  }
  const share = (name: string, more: object = {}, status = 201) => {
    const target = 'http://127.0.0.1:3000';
    const body = { name, environmentId, shareMode: 'public', backendMode: 'proxy', target, ...more };
    return call<ShareAnswer & { message: string }>('POST', 'shares', body, status);
  };
  const policy = (name: string, rules: object = {}) =>
    call<AnswerOf<'getPolicy'>>('POST', 'policies', { name, ...rules }, 201);
  const rulesOf = async (token: string) => {
    const { warnings: _none, ...rules } = await call<SharePolicyAnswer>('GET', `shares/${token}/policy`);
    return rules;
  };
  const summaryOf = async (token: string) =>
    (await call<ShareAnswer>('GET', `shares/${token}`)).access.summary;

  it('are created, listed, renamed and deleted, and their names are unique', async () => {
    const { id, shareCount } = await policy('staff', DENIED);
    assert.equal(shareCount, 0);
    const { content } = await call<{ content: AnswerOf<'getPolicy'>[] }>('GET', 'policies?name=STA');
    assert.deepEqual(
      content.map(({ name }) => name),
      ['staff'],
    );
    await call('POST', 'policies', { name: 'staff' }, 409);
    await policy('other');
    await call('PUT', `policies/${id}`, { name: 'other' }, 409);
    const renamed = await call<AnswerOf<'getPolicy'>>('PUT', `policies/${id}`, { name: 'people' });
    assert.deepEqual([renamed.name, renamed.ipDeny], ['people', []]);
    await call('DELETE', `policies/${id}`, undefined, 204);
    await call('GET', `policies/${id}`, undefined, 404);
    const below = { hsts: { maxAgeSeconds: 60, includeSubdomains: true } };
    await call('POST', 'policies', { name: 'below', ...below }, 400);
  });

  it('apply at all their shares at once, instead of rules of their own', async () => {
    const { id } = await policy('office', DENIED);
    await share('one', { policyId: id });
    await share('two');
    await call('PUT', 'shares/two/policy', { ipDeny: ['192.0.2.1'] });
    await call('PATCH', 'shares/two', { policyId: id });
    for (const token of ['one', 'two']) {
      assert.equal((await call<ShareAnswer>('GET', `shares/${token}`)).policyId, id);
      assert.equal(await summaryOf(token), 'Everyone except from 203.0.113.0/24');
    }
    await call('PUT', `policies/${id}`, { ipAllow: ['192.0.2.0/24'] });
    for (const token of ['one', 'two']) assert.equal(await summaryOf(token), 'Everyone from 192.0.2.0/24');
    const uses = await call<{ shares: { token: string }[]; shareCount: number }>(
      'GET',
      `policies/${id}/uses`,
    );
    assert.deepEqual([uses.shares.map(({ token }) => token), uses.shareCount], [['one', 'two'], 2]);
    const { steps } = await call<AccessExplanationAnswer>('POST', 'shares/one/policy/explain', {});
    assert.match(steps[0]!.detail, /the policy office/);
  });

  it('leave their rules to a share that gives one up, and are not changed through a share', async () => {
    const { id, shareCount: _count, name: _name, createdAt: _at, ...rules } = await policy('left', DENIED);
    await share('leaver', { policyId: id });
    const { message } = await call<{ message: string }>('PUT', 'shares/leaver/policy', {}, 409);
    assert.match(message, /uses the policy left/);
    assert.deepEqual(await rulesOf('leaver'), rules);
    await call('PATCH', 'shares/leaver', { policyId: null });
    assert.deepEqual(await rulesOf('leaver'), rules);
    await call('PUT', `policies/${id}`, {});
    assert.deepEqual(await rulesOf('leaver'), rules);
    assert.equal(await summaryOf('leaver'), 'Everyone except from 203.0.113.0/24');
    await call('PUT', 'shares/leaver/policy', {});
    assert.equal(await summaryOf('leaver'), 'Everyone');
  });

  it('cannot be deleted while a share uses them, and the refusal names the shares', async () => {
    const { id } = await policy('used');
    await share('user-a', { policyId: id });
    await share('user-b', { policyId: id });
    const { message } = await call<{ message: string }>('DELETE', `policies/${id}`, undefined, 409);
    assert.match(message, /used by shares user-a, user-b$/);
    await share('nowhere', { policyId: environmentId }, 404);
    for (const token of ['user-a', 'user-b']) await call('DELETE', `shares/${token}`, undefined, 204);
    await call('DELETE', `policies/${id}`, undefined, 204);
  });

  it('with rules about people are refused where nobody can prove who a person is', async () => {
    const { id } = await policy('personal');
    const { message: at } = await share('closed', { policyId: (await policy('mail', PEOPLE)).id }, 409);
    assert.match(at, /nobody would be admitted/);
    await share('open', { policyId: id });
    await call('PUT', `policies/${id}`, PEOPLE, 409);
    assert.equal(await summaryOf('open'), 'Everyone');
  });

  it('close their shares when they cannot be read', async () => {
    const { id } = await policy('damaged');
    await share('shut', { policyId: id });
    await world.store.db.updateTable('access_policy').set({ data: '{' }).where('id', '=', id).execute();
    await call('PATCH', 'shares/shut', { target: 'http://127.0.0.1:3001' });
    assert.match(await summaryOf('shut'), /^Closed since/);
  });

  it('keep passwords that are sent back masked, and never show one', async () => {
    const user = { name: 'ann', password: 'correct horse battery' };
    const { id, basicAuth } = await policy('passwords', { basicAuth: [user] });
    assert.deepEqual(basicAuth, [{ name: 'ann', password: '********' }]);
    const hashes = () =>
      world.store.db.selectFrom('access_policy').select('password_hashes').where('id', '=', id).execute();
    const before = await hashes();
    await call('PUT', `policies/${id}`, { basicAuth, contact: 'ops@example.com' });
    assert.deepEqual(await hashes(), before);
    assert.ok(!JSON.stringify(await call('GET', `policies/${id}`)).includes('correct'));
  });

  it('are compared with other rules over the latest requests of their shares', async () => {
    const { id } = await policy('compared', DENIED);
    const { token } = await share('first-of-two', { policyId: id });
    await share('second-of-two', { policyId: id });
    const row = await world.store.db
      .selectFrom('share')
      .select('id')
      .where('token', '=', token)
      .executeTakeFirstOrThrow();
    const failure = {
      id: 'a'.repeat(24),
      at: Date.UTC(2026, 0, 1),
      shareId: row.id,
      frontdoorId: world.first.frontdoorId,
      method: 'GET',
      host: `${token}.share.localhost`,
      path: '/',
      client: '198.51.100.7',
      identity: null,
      decision: 'network',
      status: 502,
      code: 'no-answer',
      hop: 'service',
      cause: 'it closed the connection',
      traceId: null,
      timings: { decidedMs: 0.1, circuitMs: null, firstByteMs: null, doneMs: 0.2 },
    } as const;
    await putFailures(world.store, { records: [failure], frontdoorOf: () => world.first.frontdoorId });
    const rules = { ipDeny: ['198.51.100.0/24'] };
    const found = await call<AnswerOf<'comparePolicy'>>('POST', `policies/${id}/compare`, rules);
    assert.deepEqual([found.shareCount, found.comparedShares, found.compared, found.unknown], [2, 2, 1, 0]);
    const [only, ...others] = found.shares;
    assert.deepEqual(others, []);
    assert.equal(only!.token, token);
    assert.equal(only!.different[0]!.after.reason, 'address-denied');
  });

  it('go with their frontdoor and its shares', async () => {
    const { id } = await policy('last');
    await share('last', { policyId: id });
    assert.equal((await world.call('DELETE', root)).status, 204);
    assert.deepEqual(await world.store.db.selectFrom('access_policy').select('id').execute(), []);
  });
});
