// The log-in by tokens of another party, whose signers administrators add.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { importPKCS8, SignJWT } from 'jose';
import { openThirdParty } from '../../../../test/support/third-party.ts';
import { rawRequest } from '../client-api/edge-api-fixture.ts';
import { openManagementFixture, type ManagementFixture } from './management-fixture.ts';
import {
  AUDIENCE,
  ISSUER,
  JWKS,
  openExternalIssuer,
  type TokenChange,
  type ExternalIssuer,
} from './external-issuer-fixture.ts';

const API = '/edge/client/v1';

interface Answer {
  readonly status: number;
  readonly json: { readonly data: Record<string, unknown>; readonly error: { readonly code: string } };
}

let api: ManagementFixture;
let signer: ExternalIssuer;
let identityId: string;
let signerId: string;

before(async () => {
  signer = await openExternalIssuer();
  api = await openManagementFixture(signer.egress);
  identityId = await api.make('identities', { name: 'Ada', type: 'User', externalId: 'ada@example.com' });
  signerId = await api.make('external-jwt-signers', {
    name: 'idp',
    issuer: ISSUER,
    audience: AUDIENCE,
    jwksEndpoint: JWKS,
    enabled: true,
    claimsProperty: 'email',
    useExternalId: true,
    clientId: 'app',
    externalAuthUrl: ISSUER,
    scopes: ['email'],
  });
});
after(() => api.close());

const tokenOf = (change?: TokenChange) => signer.token(change);

async function logIn(token: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}` };
  const path = `${API}/authenticate?method=ext-jwt`;
  const { status, json } = await rawRequest(api, { path, method: 'POST', headers, body: '{}' });
  return { status, json: json as Answer['json'] };
}

test('a token of an enabled signer logs in the identity with its external id', async () => {
  const { status, json } = await logIn(await tokenOf());
  assert.deepEqual([status, json.data['identityId']], [200, identityId]);
  const self = await rawRequest(api, {
    path: `${API}/current-identity`,
    headers: { 'zt-session': json.data['token'] as string },
  });
  assert.equal((self.json as Answer['json']).data['externalId'], 'ada@example.com');
  assert.deepEqual(signer.fetched, [JWKS], 'one fetch, through the door of outgoing requests');
});

test('tokens of every wrong kind get one answer', async () => {
  await api.make('identities', { name: 'Bob', type: 'User', externalId: 'twice' });
  await api.make('identities', { name: 'Bob 2', type: 'User', externalId: 'twice' });
  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${(await tokenOf()).split('.')[1]}.`;
  const symmetric = await new SignJWT({ email: 'ada@example.com' })
    .setProtectedHeader({ alg: 'HS256', kid: 'k1' })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setExpirationTime('5m')
    .sign(randomBytes(32));
  const wrong = [
    await tokenOf({ by: signer.otherKey }),
    await tokenOf({ issuer: 'https://other.example' }),
    await tokenOf({ audience: 'other' }),
    await tokenOf({ expires: '-5m' }),
    await tokenOf({ claims: { email: 'nobody@example.com' } }),
    await tokenOf({ claims: { email: 'twice' } }),
    await tokenOf({ claims: { email: identityId } }),
    await tokenOf({ claims: { email: 7 } }),
    unsigned,
    symmetric,
    'x',
    `${await tokenOf()}x`,
  ];
  for (const token of wrong) {
    const { status, json } = await logIn(token);
    assert.deepEqual([status, json.error.code], [401, 'INVALID_AUTH'], token.slice(0, 40));
  }
  assert.ok(api.logged.every((line) => !line.includes(wrong[0]!)));
});

test('anybody sees enabled signers, without their keys; a disabled one logs nobody in', async () => {
  const list = async () => {
    const { json } = await rawRequest(api, { path: `${API}/external-jwt-signers` });
    return (json as { data: Record<string, unknown>[] }).data;
  };
  const [shown] = await list();
  const { id, name, clientId, externalAuthUrl, scopes, jwksEndpoint } = shown!;
  assert.deepEqual(
    [id, name, clientId, externalAuthUrl, scopes],
    [signerId, 'idp', 'app', ISSUER, ['email']],
  );
  assert.equal(jwksEndpoint, undefined);
  const path = `external-jwt-signers/${signerId}`;
  const openSessions = () => [...api.sessions.all()].filter(({ identityId: of }) => of === identityId).length;
  assert.ok(openSessions() > 0);
  assert.equal((await api.call('PATCH', path, { scopes: ['email'] })).status, 200);
  assert.ok(openSessions() > 0);
  assert.equal((await api.call('PATCH', path, { enabled: false })).status, 200);
  assert.equal(openSessions(), 0);
  assert.deepEqual(await list(), []);
  assert.equal((await logIn(await tokenOf())).status, 401);
  assert.equal((await api.call('PATCH', path, { enabled: true })).status, 200);
  assert.equal((await logIn(await tokenOf())).status, 200);
  for (const field of [
    { jwksEndpoint: 'file:///etc' },
    { issuer: '' },
    { certPem: 'x', kid: 'x', jwksEndpoint: null },
    { kid: 'x' },
  ]) {
    const body = {
      name: 'x',
      issuer: 'i',
      audience: 'a',
      jwksEndpoint: JWKS,
      enabled: true,
      ...field,
    };
    const { error } = await api.call('POST', 'external-jwt-signers', body);
    assert.equal(error.cause?.field, Object.keys(field)[0]);
  }
});

test('the log-in through OpenID Connect takes such a token', async () => {
  const query = new URLSearchParams({
    client_id: 'native',
    code_challenge: createHash('sha256').update('v').digest('base64url'),
    code_challenge_method: 'S256',
    method: 'ext-jwt',
    redirect_uri: 'http://127.0.0.1:41815/auth/callback',
    response_type: 'code',
    scope: 'openid',
    state: 's',
  });
  const begun = await rawRequest(api, { path: `/oidc/authorize?${query.toString()}` });
  const page = await rawRequest(api, { path: begun.headers.location! });
  const body = new URLSearchParams({ id: String(page.headers['auth-request-id']) }).toString();
  const post = async (token: string) =>
    rawRequest(api, {
      path: '/oidc/login/ext-jwt',
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-www-form-urlencoded' },
      body,
    });
  assert.equal((await post(await tokenOf({ by: signer.otherKey }))).status, 401);
  const passed = await post(await tokenOf());
  assert.equal(passed.status, 302);
  const callback = await rawRequest(api, { path: passed.headers.location!.slice(api.apiUrl.length) });
  assert.match(callback.headers.location!, /\?code=/);
});

test('an authentication policy permits the tokens of the signers that it lists', async () => {
  const other = await api.make('external-jwt-signers', {
    name: 'other',
    issuer: 'https://other.example',
    audience: AUDIENCE,
    jwksEndpoint: JWKS,
  });
  const primary = (signer: string) => ({ primary: { extJwt: { allowed: true, allowedSigners: [signer] } } });
  const policyId = await api.make('auth-policies', { name: 'signers', ...primary(other) });
  await api.call('PATCH', `identities/${identityId}`, { authPolicyId: policyId });
  assert.equal((await logIn(await tokenOf())).status, 401);
  await api.call('PATCH', `auth-policies/${policyId}`, primary(signerId));
  assert.equal((await logIn(await tokenOf())).status, 200);
  const listed = await api.call('DELETE', `external-jwt-signers/${signerId}`);
  assert.equal(listed.error.code, 'CONFLICT_CANNOT_DELETE_REFERENCED');
  await api.call('PATCH', `identities/${identityId}`, { authPolicyId: 'default' });
});

test('a signer with a certificate needs no key set', async () => {
  const party = await openThirdParty('signer');
  const { cert: certPem, key } = await party.issue('tokens');
  const past = await party.issue('tokens', { notBeforeMs: 0, notAfterMs: Date.now() - 1_000 });
  const issuer = 'https://signer.example';
  const certified = await api.make('external-jwt-signers', {
    name: 'certified',
    issuer,
    audience: AUDIENCE,
    enabled: true,
    certPem,
    kid: 'k1',
    claimsProperty: 'email',
    useExternalId: true,
  });
  const by = await importPKCS8(key, 'ES256');
  assert.equal((await logIn(await tokenOf({ issuer, by }))).status, 200);
  assert.equal((await logIn(await tokenOf({ issuer }))).status, 401, 'a key of another signer');
  const path = `external-jwt-signers/${certified}`;
  const { commonName } = (await api.call('GET', path)).data as unknown as { commonName: string };
  assert.equal(commonName, 'tokens');
  for (const change of [{ kid: 'k2' }, { kid: 'k1', certPem: past.cert }]) {
    assert.equal((await api.call('PATCH', path, change)).status, 200);
    assert.equal((await logIn(await tokenOf({ issuer, by }))).status, 401);
  }
  for (const [change, field] of [
    [{ jwksEndpoint: JWKS }, 'jwksEndpoint'],
    [{ kid: '' }, 'kid'],
    [{ certPem: party.certificatePem.repeat(2) }, 'certPem'],
  ] as const)
    assert.equal((await api.call('PATCH', path, change)).error.cause?.field, field);
});
