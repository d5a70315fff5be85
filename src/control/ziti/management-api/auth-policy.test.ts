// Authentication policies: which methods identities log in by, and which passwords they may have.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { IdentityFile } from '#net/files';
import { enrollIdentity } from '#sdk';
import { rawRequest } from '../client-api/edge-api-fixture.ts';
import { openManagementFixture, type ManagementFixture } from './management-fixture.ts';

const PASSWORD = 'A password of 1 person!';

let api: ManagementFixture;
let id: string;
let machine: IdentityFile;

before(async () => {
  api = await openManagementFixture();
  id = await api.make('identities', { name: 'Ada', type: 'User', enrollment: { ott: true } });
  const { jwt } = (await api.call('GET', `identities/${id}`)).data.enrollment.ott;
  ({ identity: machine } = await enrollIdentity({ jwt }));
  await api.make('authenticators', {
    method: 'updb',
    identityId: id,
    username: 'ada',
    password: PASSWORD,
  });
});
after(() => api.close());

const policy = (name: string, allowed: readonly string[], rules: object = {}) => ({
  name,
  primary: {
    cert: { allowed: allowed.includes('cert'), allowExpiredCerts: false },
    extJwt: { allowed: allowed.includes('extJwt'), allowedSigners: [] },
    updb: { allowed: allowed.includes('updb'), maxAttempts: 0, lockoutDurationMinutes: 0, ...rules },
  },
  secondary: { requireTotp: false, requireExtJwtSigner: null },
});

async function logIn(method: 'cert' | 'password', at = 'client'): Promise<number> {
  const own = method === 'cert' ? { cert: machine.certPem, key: machine.keyPem } : {};
  const body = JSON.stringify(method === 'cert' ? {} : { username: 'ada', password: PASSWORD });
  const path = `/edge/${at}/v1/authenticate?method=${method}`;
  return (await rawRequest(api, { method: 'POST', path, body, ...own })).status;
}

const openSessions = () => [...api.sessions.all()].filter(({ identityId }) => identityId === id).length;

test('a policy permits methods of log-in; a change ends the sessions that it forbids', async () => {
  const onlyCert = await api.make('auth-policies', policy('machines', ['cert']));
  assert.deepEqual([await logIn('cert'), await logIn('password')], [200, 200]);
  assert.equal(openSessions(), 2);
  await api.call('PATCH', `identities/${id}`, { authPolicyId: onlyCert, isAdmin: true });
  assert.deepEqual([await logIn('password'), openSessions()], [401, 1]);
  const refused = [await logIn('cert', 'management'), await logIn('password', 'management')];
  assert.deepEqual(refused, [200, 401]);
  const { authPolicyId } = (await api.call('GET', `identities/${id}`)).data as unknown as {
    authPolicyId: string;
  };
  assert.equal(authPolicyId, onlyCert);
  await api.call('PATCH', `auth-policies/${onlyCert}`, { primary: { cert: { allowed: false } } });
  assert.deepEqual([await logIn('cert'), await logIn('cert', 'management'), openSessions()], [401, 401, 0]);
  const inUse = await api.call('DELETE', `auth-policies/${onlyCert}`);
  assert.equal(inUse.error.code, 'CONFLICT_CANNOT_DELETE_REFERENCED');
  await api.call('PATCH', `identities/${id}`, { authPolicyId: 'default' });
  assert.equal((await api.call('DELETE', `auth-policies/${onlyCert}`)).status, 200);
  assert.deepEqual([await logIn('cert'), await logIn('password')], [200, 200]);
});

test('passwords keep the rules of the policy at enrollments and changes', async () => {
  const rules = { minPasswordLength: 14, requireMixedCase: true, requireNumberChar: true };
  const strict = await api.make('auth-policies', policy('people', ['updb'], rules));
  const enrollment = { updb: 'bob' };
  const bob = await api.make('identities', { name: 'Bob', type: 'User', enrollment, authPolicyId: strict });
  const { token } = (await api.call('GET', `identities/${bob}`)).data.enrollment.updb;
  const enroll = async (password: string) => {
    const body = JSON.stringify({ password });
    return (await rawRequest(api, { method: 'POST', path: `/enroll?method=updb&token=${token}`, body }))
      .status;
  };
  for (const weak of ['Short1', 'no capital letter 1', 'No digit at all here'])
    assert.equal(await enroll(weak), 400, weak);
  assert.equal(await enroll('Long enough for 1'), 200);
  const [one] = (await api.call('GET', `identities/${bob}/authenticators`)).data;
  const change = await api.call('PATCH', `authenticators/${one?.id}`, { password: 'no capital letter 1' });
  assert.equal(change.error.cause?.field, 'password');
});

test('the default policy is changed for those that name no other, and for no environment', async () => {
  const { authPolicies } = (await api.call('GET', 'summary')).data as unknown as { authPolicies: number };
  assert.deepEqual([await logIn('cert'), await logIn('password')], [200, 200]);
  const noCert = { primary: { cert: { allowed: false }, extJwt: { allowedSigners: null } } };
  assert.equal((await api.call('PATCH', 'auth-policies/default', noCert)).status, 200);
  assert.deepEqual([await logIn('cert'), await logIn('password')], [401, 200]);
  const locked = await api.call('PATCH', 'auth-policies/default', { primary: { updb: { allowed: false } } });
  assert.equal(locked.error.cause?.field, 'primary', 'its administrator would be locked out');
  const factor = await api.call('PATCH', 'auth-policies/default', { secondary: { requireTotp: true } });
  assert.equal(factor.error.cause?.field, 'secondary.requireTotp');
  const { data } = (await api.call('GET', 'auth-policies?filter=id="default"')) as unknown as {
    data: readonly { name: string; primary: { cert: object } }[];
  };
  const shown = data.map(({ name, primary }) => [name, primary.cert]);
  assert.deepEqual(shown, [['Default', { allowed: false, allowExpiredCerts: false }]]);
  const { authPolicies: now } = (await api.call('GET', 'summary')).data as unknown as {
    authPolicies: number;
  };
  assert.equal(now, authPolicies);
  const { identity: agent } = await api.enroll('agent');
  const { cert, key } = { cert: agent.certPem, key: agent.keyPem };
  const path = '/edge/client/v1/authenticate?method=cert';
  assert.equal((await rawRequest(api, { method: 'POST', path, body: '{}', cert, key })).status, 200);
  const whole = { ...policy('Default', ['cert', 'updb', 'extJwt'], { minPasswordLength: 5 }) };
  assert.equal((await api.call('PUT', 'auth-policies/default', whole)).status, 200);
  assert.deepEqual([await logIn('cert'), await logIn('password')], [200, 200]);
  assert.equal((await api.call('DELETE', 'auth-policies/default')).error.cause?.field, 'id');
});

test('what a policy cannot do here is refused', async () => {
  const { primary, name } = policy('more', ['cert']);
  for (const [wrong, field] of [
    [{ name, primary, secondary: { requireExtJwtSigner: 'idp' } }, 'requireExtJwtSigner'],
    [{ name, primary: { cert: { allowed: true, allowExpiredCerts: 1 } } }, 'allowExpiredCerts'],
    [{ name, primary: { updb: { allowed: true, maxAttempts: -1 } } }, 'maxAttempts'],
    [{ name, primary: { extJwt: { allowed: true, allowedSigners: ['nobody'] } } }, 'allowedSigners'],
  ] as const)
    assert.equal((await api.call('POST', 'auth-policies', wrong)).error.cause?.field, field);
  const unknown = await api.call('PATCH', `identities/${id}`, { authPolicyId: 'unknown' });
  assert.equal(unknown.error.cause?.field, 'authPolicyId');
});
