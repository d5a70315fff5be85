// Enrollment by tokens of another party, whose signers administrators permit it to.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { makeKeyRequest } from '#sdk';
import { rawRequest } from '../client-api/edge-api-fixture.ts';
import { openManagementFixture, type ManagementFixture } from './management-fixture.ts';
import {
  AUDIENCE,
  ISSUER,
  JWKS,
  openExternalIssuer,
  type ExternalIssuer,
} from './external-issuer-fixture.ts';

let api: ManagementFixture;
let signer: ExternalIssuer;
let signerId: string;

before(async () => {
  signer = await openExternalIssuer();
  api = await openManagementFixture(signer.egress);
  signerId = await api.make('external-jwt-signers', {
    name: 'idp',
    issuer: ISSUER,
    audience: AUDIENCE,
    jwksEndpoint: JWKS,
    enabled: true,
    claimsProperty: '/email',
    useExternalId: true,
    enrollToTokenEnabled: true,
    enrollToCertEnabled: true,
    enrollNameClaimsSelector: '/profile/name',
    enrollAttributeClaimsSelector: '/access/roles',
  });
});
after(() => api.close());

const claimsOf = (name: string, roles: unknown = ['staff', 'east', '']) => ({
  email: `${name}@example.com`,
  profile: { name },
  access: { roles },
});

async function enroll(token: string | undefined, body: object = {}, headers: Record<string, string> = {}) {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const request = { method: 'POST', path: '/enroll/token', body: JSON.stringify(body) };
  const { status, json } = await rawRequest(api, { ...request, headers: { ...authorization, ...headers } });
  const { data, error } = json as { data?: { cert?: string; ca?: string }; error?: { code: string } };
  return { status, data, code: error?.code };
}

async function logIn(method: 'ext-jwt' | 'cert', own: { token?: string; cert?: string; key?: string }) {
  const { token, ...tls } = own;
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const path = `/edge/client/v1/authenticate?method=${method}`;
  const { status, json } = await rawRequest(api, { method: 'POST', path, headers, body: '{}', ...tls });
  return { status, identityId: (json as { data?: { identityId: string } }).data?.identityId };
}

test('a token makes an identity with the name and roles of its claims, which logs in by it, once', async () => {
  const token = await signer.token({ claims: claimsOf('ada') });
  assert.equal((await logIn('ext-jwt', { token })).status, 401);
  assert.deepEqual(await enroll(token), { status: 200, data: {}, code: undefined });
  const { status, identityId } = await logIn('ext-jwt', { token });
  assert.equal(status, 200);
  const shown = (await api.call('GET', `identities/${identityId}`)).data as unknown as {
    name: string;
    roleAttributes: string[];
    externalId: string;
    isAdmin: boolean;
  };
  const { name, roleAttributes, externalId, isAdmin } = shown;
  assert.deepEqual(
    [name, roleAttributes, externalId, isAdmin],
    ['ada', ['staff', 'east'], 'ada@example.com', false],
  );
  assert.equal((await enroll(token)).code, 'ENROLLMENT_IDENTITY_ALREADY_ENROLLED');
  const race = await signer.token({ claims: claimsOf('race') });
  const answers = await Promise.all([enroll(race), enroll(race), enroll(race)]);
  assert.deepEqual(
    answers.map(({ status: one }) => one).sort((a, b) => a - b),
    [200, 409, 409],
  );
});

test('a token with a request gets a certificate, which logs in', async () => {
  const { keyPem: key, csrPem: clientCsr } = await makeKeyRequest('machine');
  const token = await signer.token({ claims: claimsOf('machine', 'sensors') });
  const { status, data } = await enroll(token, { clientCsr }, { 'ziti-token-issuer-id': signerId });
  assert.equal(status, 200);
  assert.match(data?.ca ?? '', /BEGIN CERTIFICATE/);
  const own = await logIn('cert', { cert: data!.cert!, key });
  assert.equal(own.status, 200);
  assert.equal(api.model.identity(own.identityId!)?.name, 'machine');
});

test('tokens, signers, policies and requests that do not permit it make nothing', async () => {
  const count = api.model.edge.count('identity');
  for (const token of [
    undefined,
    'x',
    await signer.token({ claims: claimsOf('eve'), by: signer.otherKey }),
    await signer.token({ claims: claimsOf('eve'), audience: 'other' }),
    await signer.token({ claims: claimsOf('eve'), expires: '-5m' }),
    await signer.token({ claims: { email: 'eve@example.com' } }),
    await signer.token({ claims: { email: '', profile: { name: 'eve' } } }),
    await signer.token({ claims: claimsOf('eve', 7) }),
    await signer.token({
      claims: claimsOf(
        'eve',
        Array.from({ length: 513 }, (_, i) => `${i}`),
      ),
    }),
    await signer.token({ claims: claimsOf('eve', ['x'.repeat(257)]) }),
  ])
    assert.equal((await enroll(token)).code, 'INVALID_ENROLLMENT_TOKEN');
  const right = await signer.token({ claims: claimsOf('eve') });
  assert.equal(
    (await enroll(right, {}, { 'ziti-token-issuer-id': 'other' })).code,
    'INVALID_ENROLLMENT_TOKEN',
  );
  assert.equal((await enroll(right, { clientCsr: 'no request' })).code, 'COULD_NOT_PROCESS_CSR');
  const updb = { name: 'passwords', primary: { updb: { allowed: true } } };
  const enrollAuthPolicyId = await api.make('auth-policies', updb);
  for (const change of [{ enrollAuthPolicyId }, { enrollAuthPolicyId: null, enrollToTokenEnabled: false }]) {
    assert.equal((await api.call('PATCH', `external-jwt-signers/${signerId}`, change)).status, 200);
    assert.equal((await enroll(right)).code, 'INVALID_ENROLLMENT_NOT_ALLOWED');
  }
  const inner = { enrollToTokenEnabled: true, useExternalId: false };
  const refused = await api.call('PATCH', `external-jwt-signers/${signerId}`, inner);
  assert.equal(refused.error.cause?.field, 'enrollToTokenEnabled');
  assert.equal(api.model.edge.count('identity'), count);
});
