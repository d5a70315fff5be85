// Tokens of another party as second factor: the authentication policy names the signer.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { rawRequest } from '../client-api/edge-api-fixture.ts';
import { OidcFlow } from '../client-api/oidc-flow-fixture.ts';
import { bytesOfBase32 } from '../../credentials/totp/base32-fixture.ts';
import { codeAt, TOTP_STEP_MS } from '../../credentials/totp/totp-code.ts';
import {
  AUDIENCE,
  ISSUER,
  JWKS,
  openExternalIssuer,
  type ExternalIssuer,
} from './external-issuer-fixture.ts';
import { openManagementFixture, type ManagementFixture } from './management-fixture.ts';

const API = '/edge/client/v1';
const PASSWORD = 'a password of a person';

let api: ManagementFixture;
let issuer: ExternalIssuer;
let signerId: string;
let policyId: string;
let adaId: string;

before(async () => {
  issuer = await openExternalIssuer();
  api = await openManagementFixture(issuer.egress);
  signerId = await signerNamed('idp', AUDIENCE);
  policyId = await api.make('auth-policies', {
    name: 'people',
    primary: { updb: { allowed: true } },
    secondary: { requireExtJwtSigner: signerId },
  });
  adaId = await person('ada', policyId);
});
after(() => api.close());

function signerNamed(name: string, audience: string): Promise<string> {
  return api.make('external-jwt-signers', {
    name,
    issuer: ISSUER,
    audience,
    jwksEndpoint: JWKS,
    enabled: true,
    scopes: ['email'],
    claimsProperty: 'email',
    useExternalId: true,
    clientId: 'app',
    externalAuthUrl: ISSUER,
  });
}

async function person(name: string, authPolicyId: string): Promise<string> {
  const externalId = `${name}@example.com`;
  const id = await api.make('identities', { name, type: 'User', externalId, authPolicyId });
  await api.make('authenticators', { method: 'updb', identityId: id, username: name, password: PASSWORD });
  return id;
}

interface Call {
  readonly method?: string;
  readonly token?: string | undefined;
  /** A token of the other party. */
  readonly bearer?: string | undefined;
  readonly body?: object | undefined;
}

async function call(path: string, { method = 'GET', token, bearer, body }: Call = {}) {
  const headers: Record<string, string> = {};
  if (token !== undefined) headers['zt-session'] = token;
  if (bearer !== undefined) headers['authorization'] = `Bearer ${bearer}`;
  const text = body === undefined ? undefined : JSON.stringify(body);
  const { status, json } = await rawRequest(api, { path, method, headers, body: text });
  const { data = {}, error } = json as { data?: Record<string, unknown>; error?: { code: string } };
  return { status, data, code: error?.code };
}

const logIn = (username: string, bearer?: string, at = API) =>
  call(`${at}/authenticate?method=password`, {
    method: 'POST',
    bearer,
    body: { username, password: PASSWORD },
  });
const services = async (token: string, bearer?: string) =>
  (await call(`${API}/services`, { token, bearer })).status;
const openSessions = (id: string) => [...api.sessions.all()].filter(({ identityId }) => identityId === id);
const tokenFor = (name: string, audience = AUDIENCE) =>
  issuer.token({ claims: { email: `${name}@example.com` }, audience });

test('each call of a session needs a token of the required signer for the same identity', async () => {
  const bearer = await tokenFor('ada');
  await person('bob', policyId);
  const begun = await logIn('ada');
  const query = { typeId: 'EXT-JWT', provider: 'url', id: signerId, clientId: 'app', httpUrl: ISSUER };
  assert.deepEqual(begun.data['authQueries'], [{ ...query, scopes: ['email'] }]);
  const token = String(begun.data['token']);
  const shown = await call(`${API}/current-api-session`, { token });
  assert.deepEqual(shown.data['authQueries'], begun.data['authQueries']);
  for (const wrong of [undefined, 'x', await tokenFor('bob'), await tokenFor('ada', 'another')])
    assert.equal(await services(token, wrong), 401);
  assert.equal(openSessions(adaId).length, 0);
  const atOnce = await Promise.all(Array.from({ length: 8 }, () => services(token, bearer)));
  assert.deepEqual([...new Set(atOnce)], [200]);
  assert.equal(openSessions(adaId).length, 1);
  assert.deepEqual([await services(token), await services(token, bearer)], [401, 200]);
  const later = await call(`${API}/current-api-session`, { token });
  assert.deepEqual(later.data['authQueries'], begun.data['authQueries']);

  const whole = await logIn('ada', bearer);
  assert.deepEqual(whole.data['authQueries'], []);
  assert.equal(await services(String(whole.data['token'])), 401);
  assert.equal(await services(String(whole.data['token']), bearer), 200);
  assert.equal((await call(`${API}/current-api-session`, { token, method: 'DELETE' })).status, 200);
  assert.equal(await services(token, bearer), 401);
});

test('a log-in through OpenID Connect needs the token, and its refresh the same signer', async () => {
  const flow = new OidcFlow(api);
  const form = { id: await flow.begin('password'), username: 'ada', password: PASSWORD };
  const before = openSessions(adaId).length;
  for (const wrong of [undefined, await tokenFor('bob')]) {
    const asked = await flow.step('password', form, wrong);
    const [query] = (asked.json as { authQueries: { typeId: string; id: string }[] }).authQueries;
    assert.deepEqual([asked.status, query?.typeId, query?.id], [200, 'EXT-JWT', signerId]);
  }
  assert.equal(openSessions(adaId).length, before);
  const tokens = await flow.tokens(await flow.step('password', form, await tokenFor('ada')));
  assert.equal(await flow.services(tokens), 200, 'the access token vouches for both');
  assert.equal((await flow.refresh(tokens)).status, 200);

  const otherId = await signerNamed('other', 'another');
  await api.call('PATCH', `auth-policies/${policyId}`, { secondary: { requireExtJwtSigner: otherId } });
  assert.equal(openSessions(adaId).length, 0);
  assert.deepEqual([await flow.services(tokens), (await flow.refresh(tokens)).status], [401, 400]);
  await api.call('PATCH', `auth-policies/${policyId}`, { secondary: { requireExtJwtSigner: signerId } });
  assert.equal((await api.call('DELETE', `external-jwt-signers/${otherId}`)).status, 200);
});

test('a one-time password and a token are both needed where the policy demands both', async () => {
  const both = await api.make('auth-policies', {
    name: 'both',
    primary: { updb: { allowed: true } },
    secondary: { requireExtJwtSigner: signerId, requireTotp: true },
  });
  await person('cy', both);
  const bearer = await tokenFor('cy');
  const mfa = `${API}/current-identity/mfa`;
  const begun = await logIn('cy', bearer);
  const token = String(begun.data['token']);
  assert.equal((await call(mfa, { token, method: 'POST', body: {} })).status, 401);
  assert.equal((await call(mfa, { token, bearer, method: 'POST', body: {} })).status, 201);
  const { provisioningUrl } = (await call(mfa, { token, bearer })).data;
  const secret = bytesOfBase32(new URL(String(provisioningUrl)).searchParams.get('secret')!);
  const code = () => {
    api.clock.offsetMs += TOTP_STEP_MS;
    return { code: codeAt(secret, api.clock.nowMs()) };
  };
  assert.equal(await services(token, bearer), 401, 'the token alone opens nothing');
  const verified = await call(`${mfa}/verify`, { token, bearer, method: 'POST', body: code() });
  assert.deepEqual([verified.status, await services(token, bearer)], [200, 200]);

  const again = String((await logIn('cy')).data['token']);
  const show = (second?: string) =>
    call(`${API}/authenticate/mfa`, { token: again, bearer: second, method: 'POST', body: code() });
  assert.deepEqual([(await show()).status, (await show(bearer)).status], [401, 200]);
  assert.deepEqual([await services(again), await services(again, bearer)], [401, 200]);
});

test('an administrator shows the token at the log-in and with each call', async () => {
  const id = await person('root', policyId);
  await api.call('PATCH', `identities/${id}`, { isAdmin: true });
  const bearer = await tokenFor('root');
  const management = '/edge/management/v1';
  assert.equal((await logIn('root', undefined, management)).status, 401);
  const { status, data } = await logIn('root', bearer, management);
  const token = String(data['token']);
  const list = async (second?: string) =>
    (await call(`${management}/services`, { token, bearer: second })).status;
  assert.deepEqual([status, await list(), await list(bearer)], [200, 401, 200]);
});

test('a disabled signer closes the sessions that need it, and a required one cannot be deleted', async () => {
  const bearer = await tokenFor('ada');
  const token = String((await logIn('ada', bearer)).data['token']);
  assert.equal(await services(token, bearer), 200);
  const path = `external-jwt-signers/${signerId}`;
  assert.equal((await api.call('DELETE', path)).error.code, 'CONFLICT_CANNOT_DELETE_REFERENCED');
  await api.call('PATCH', path, { enabled: false });
  assert.deepEqual([await services(token, bearer), openSessions(adaId).length], [401, 0]);
  await api.call('PATCH', path, { enabled: true });
  assert.equal(await services(String((await logIn('ada', bearer)).data['token']), bearer), 200);
});
