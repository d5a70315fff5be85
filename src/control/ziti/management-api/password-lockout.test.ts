// Authentication policies that limit wrong passwords: the lock, its end, and attempts at once, on both databases.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../../../../test/support/deadline.ts';
import { rawRequest } from '../client-api/edge-api-fixture.ts';
import { describeEachStore } from '../../store/engine/each-store-suite.ts';
import { openManagementFixture, type ManagementFixture } from './management-fixture.ts';

const PASSWORD = 'a password of a person';
const MINUTE_MS = 60_000;

describeEachStore('a password that a policy locks', (open) => {
  let api: ManagementFixture;

  before(async () => {
    api = await openManagementFixture(undefined, open);
  });
  after(() => api?.close());

  async function person(username: string, lockoutDurationMinutes: number): Promise<string> {
    const updb = { allowed: true, maxAttempts: 3, lockoutDurationMinutes };
    const authPolicyId = await api.make('auth-policies', { name: username, primary: { updb } });
    const id = await api.make('identities', { name: username, type: 'User', isAdmin: true, authPolicyId });
    await api.make('authenticators', { method: 'updb', identityId: id, username, password: PASSWORD });
    const isHere = () =>
      api.model.edge.get('auth-policy', authPolicyId) && api.model.edge.get('identity', id);
    await until('the identity and its policy', isHere, (entity) => entity !== undefined);
    return id;
  }

  async function logIn(username: string, password = PASSWORD, at = 'client'): Promise<number> {
    const path = `/edge/${at}/v1/authenticate?method=password`;
    const body = JSON.stringify({ username, password });
    return (await rawRequest(api, { method: 'POST', path, body })).status;
  }

  test('opens nothing after the last wrong attempt, until the time is over', async () => {
    await person('ada', 5);
    assert.deepEqual([await logIn('ada', 'wrong'), await logIn('ada', 'wrong')], [401, 401]);
    assert.equal(await logIn('ada'), 200, 'a right one counts again');
    for (const at of ['client', 'management', 'client']) assert.equal(await logIn('ada', 'wrong', at), 401);
    assert.deepEqual([await logIn('ada'), await logIn('ada', PASSWORD, 'management')], [401, 401]);
    api.clock.offsetMs += 4 * MINUTE_MS;
    assert.equal(await logIn('ada'), 401);
    api.clock.offsetMs += MINUTE_MS;
    assert.deepEqual([await logIn('ada'), await logIn('ada', 'wrong'), await logIn('ada')], [200, 401, 200]);
  });

  test('stays locked without a time until an administrator sets it, and guesses at once are all counted', async () => {
    const id = await person('bob', 0);
    const guesses = await Promise.all(['a', 'b', 'c', PASSWORD].map((guess) => logIn('bob', guess)));
    assert.deepEqual(guesses.slice(0, 3), [401, 401, 401]);
    await Promise.all(['a', 'b', 'c'].map((guess) => logIn('bob', guess)));
    api.clock.offsetMs += 15 * MINUTE_MS;
    assert.equal(await logIn('bob'), 401);
    await api.call('PATCH', `authenticators/updb.${id}`, { password: PASSWORD });
    assert.equal(await logIn('bob'), 200);
  });
});
