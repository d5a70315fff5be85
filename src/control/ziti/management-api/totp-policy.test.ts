// Authentication policies that demand a second factor: enrollment during a log-in, and its removal by an administrator.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { bytesOfBase32 } from '../../credentials/totp/base32-fixture.ts';
import { rawRequest } from '../client-api/edge-api-fixture.ts';
import { codeAt, TOTP_STEP_MS } from '../../credentials/totp/totp-code.ts';
import { openManagementFixture, type ManagementFixture } from './management-fixture.ts';

const MFA = '/current-identity/mfa';
const PASSWORD = 'a password of a person';

let api: ManagementFixture;
let policy: string;

before(async () => {
  api = await openManagementFixture();
  policy = await api.make('auth-policies', {
    name: 'two factors',
    primary: { updb: { allowed: true } },
    secondary: { requireTotp: true },
  });
});
after(() => api.close());

interface Asked {
  readonly method?: string;
  readonly token?: string;
  readonly body?: object;
}

async function call(path: string, { method = 'POST', token, body }: Asked = {}) {
  const headers: Record<string, string> = token === undefined ? {} : { 'zt-session': token };
  const text = method === 'POST' ? JSON.stringify(body ?? {}) : undefined;
  const answer = await rawRequest(api, { path: `/edge/client/v1${path}`, method, headers, body: text });
  return { ...answer, json: answer.json as { data: Record<string, unknown>; error: { code: string } } };
}

async function person(username: string, authPolicyId = policy): Promise<string> {
  const id = await api.make('identities', { name: username, type: 'User', authPolicyId });
  await api.make('authenticators', { method: 'updb', identityId: id, username, password: PASSWORD });
  return id;
}

const logIn = (username: string) =>
  call('/authenticate?method=password', {
    body: { username, password: PASSWORD, sdkInfo: { type: `app of ${username}` } },
  });

async function shownField(id: string, field: string): Promise<unknown> {
  const { data } = await api.call('GET', `identities/${id}`);
  return (data as unknown as Record<string, unknown>)[field];
}

function firstCode(provisioningUrl: unknown): string {
  const secret = bytesOfBase32(new URL(String(provisioningUrl)).searchParams.get('secret')!);
  api.clock.offsetMs += TOTP_STEP_MS;
  return codeAt(secret, api.clock.nowMs());
}

test('a log-in opens nothing before the identity has enrolled, and everything with the first code', async () => {
  const id = await person('ada');
  const begun = (await logIn('ada')).json.data;
  const token = String(begun['token']);
  assert.deepEqual(
    (begun['authQueries'] as { isTotpEnrolled: boolean }[]).map((query) => query.isTotpEnrolled),
    [false],
  );
  const services = () => call('/services', { method: 'GET', token });
  assert.equal((await services()).status, 401);
  assert.equal((await call('/authenticate/mfa', { token, body: { code: '000000' } })).status, 409);
  assert.equal((await call(MFA, { token })).status, 201);
  const { provisioningUrl } = (await call(MFA, { method: 'GET', token })).json.data;
  assert.equal((await call(`${MFA}/verify`, { token, body: { code: '000000' } })).status, 400);
  assert.equal((await services()).status, 401);
  assert.deepEqual(await shownField(id, 'sdkInfo'), {}, 'the log-in is not complete');
  const code = firstCode(provisioningUrl);
  assert.equal((await call(`${MFA}/verify`, { token, body: { code } })).status, 200);
  assert.equal((await services()).status, 200);
  assert.deepEqual(await shownField(id, 'sdkInfo'), { type: 'app of ada' });
  // The token of a second log-in, which has the password alone, cannot replace the factor.
  const second = String((await logIn('ada')).json.data['token']);
  for (const method of ['POST', 'GET', 'DELETE'])
    assert.equal((await call(MFA, { method, token: second })).status, 401, method);
  const removal = await call(MFA, { method: 'DELETE', token });
  assert.deepEqual([removal.status, removal.json.error.code], [409, 'MFA_REQUIRED']);

  assert.equal(await shownField(id, 'isMfaEnabled'), true);
  assert.equal((await api.call('DELETE', `identities/${id}/mfa`)).status, 200);
  assert.equal(await shownField(id, 'isMfaEnabled'), false);
  assert.equal((await services()).status, 401, 'its sessions have ended');
  assert.equal((await api.call('DELETE', `identities/${id}/mfa`)).status, 404);
});

test('a policy that begins to demand it ends the sessions without it', async () => {
  await person('bob', 'default');
  const mild = await api.make('auth-policies', { name: 'mild', primary: { updb: { allowed: true } } });
  const id = await person('eve', mild);
  const token = String((await logIn('eve')).json.data['token']);
  const other = String((await logIn('bob')).json.data['token']);
  await api.call('PATCH', `auth-policies/${mild}`, { secondary: { requireTotp: true } });
  assert.equal((await call('/services', { method: 'GET', token })).status, 401);
  assert.equal((await call('/services', { method: 'GET', token: other })).status, 200);
  await api.call('PATCH', `identities/${id}`, { isAdmin: true });
  assert.equal((await api.logIn({ username: 'eve', password: PASSWORD })).status, 401);
});

test('a log-in through OpenID Connect enrolls, too', async () => {
  await person('oscar');
  const challenge = createHash('sha256').update(randomBytes(32)).digest('base64url');
  const query = new URLSearchParams({
    client_id: 'native',
    response_type: 'code',
    scope: 'openid offline_access',
    state: 's',
    nonce: 'n',
    redirect_uri: 'http://localhost:8080/auth/callback',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    method: 'password',
  });
  const post = (path: string, fields: Record<string, string>) =>
    rawRequest(api, {
      path: `/oidc/${path}`,
      method: 'POST',
      body: new URLSearchParams(fields).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  const { headers } = await rawRequest(api, { path: `/oidc/authorize?${query.toString()}` });
  const id = new URL(String(headers.location), 'https://edge.test').searchParams.get('authRequestID')!;
  const early = await post('login/totp/enroll', { id });
  assert.equal(early.status, 401, 'the password comes first');
  const asked = await post('login/username', { id, username: 'oscar', password: PASSWORD });
  assert.equal(asked.headers['totp-required'], 'true');
  await post('login/totp/enroll', { id });
  const begun = await post('login/totp/enroll', { id });
  assert.equal(begun.status, 201, 'the second replaces the first');
  const code = firstCode((begun.json as { provisioningUrl: string }).provisioningUrl);
  assert.equal((await post('login/totp/enroll/verify', { id, code: '000000' })).status, 400);
  const done = await post('login/totp/enroll/verify', { id, code });
  assert.match(String(done.headers.location), /authorize\/callback\?id=/);
  assert.equal((await post('login/totp/enroll', { id })).status, 409);
});
