// Administrators enroll identities by password, as `ziti edge create identity --updb` asks for it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { rawRequest } from '../client-api/edge-api-fixture.ts';
import { openManagementFixture, type ManagementFixture } from './management-fixture.ts';

let api: ManagementFixture;

before(async () => {
  api = await openManagementFixture();
});
after(() => api.close());

const post = async (path: string, body: unknown) =>
  (await rawRequest(api, { path, method: 'POST', body: JSON.stringify(body) })) as {
    status: number;
    json: { data: Record<string, unknown> };
  };

test('an identity with a user name gets its password by a token, once, and logs in with it', async () => {
  const id = await api.make('identities', { name: 'Ada', type: 'User', enrollment: { updb: 'ada' } });
  const { enrollment } = (await api.call('GET', `identities/${id}`)).data;
  assert.equal(enrollment.ott, undefined);
  assert.equal(enrollment.updb.username, 'ada');
  const claims = enrollment.updb.jwt.split('.')[1]!;
  assert.equal((JSON.parse(Buffer.from(claims, 'base64url').toString()) as { em: string }).em, 'updb');
  const enrolled = await post(`/enroll?method=updb&token=${enrollment.updb.token}`, {
    password: 'long enough',
  });
  assert.equal(enrolled.status, 200);
  const again = { method: 'updb', identityId: id, username: 'ada' };
  const made = await api.call('POST', 'enrollments', again);
  assert.equal(made.status, 201);
  const open = (await api.call('GET', `identities/${id}/enrollments`)).data;
  assert.deepEqual([open.length, open[0]!.username], [1, 'ada']);
  assert.equal((await api.call('DELETE', `enrollments/${made.data.id}`)).status, 200);
  const { authenticators, enrollment: over } = (await api.call('GET', `identities/${id}`)).data;
  assert.equal(authenticators.updb.username, 'ada');
  assert.deepEqual(over, {});
  const login = await post('/edge/client/v1/authenticate?method=password', {
    username: 'ada',
    password: 'long enough',
  });
  assert.deepEqual([login.status, login.json.data['identityId']], [200, id]);
});

test('one enrollment at a time is asked for, and names are checked', async () => {
  for (const enrollment of [
    { ott: true, updb: 'x' },
    { updb: 7 },
    { updb: 'x'.repeat(300) },
    { ottca: 'x' },
  ]) {
    const { status, error } = await api.call('POST', 'identities', { name: 'Bob', type: 'User', enrollment });
    assert.deepEqual([status, error.code, error.cause?.field], [400, 'COULD_NOT_VALIDATE', 'enrollment']);
  }
});
