// Authorities of other parties: identities enroll and log in with certificates that these issued.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { rawRequest } from '../client-api/edge-api-fixture.ts';
import { openThirdParty, type ThirdParty } from '../../../../test/support/third-party.ts';
import { insertEdgeEntity } from '../../overlay/records/mod.ts';
import { MAX_AUTHORITIES } from './authority-resource.ts';
import { openManagementFixture, type ManagementFixture } from './management-fixture.ts';

type Certificate = Awaited<ReturnType<ThirdParty['issue']>>;

interface Answer {
  readonly status: number;
  readonly data: Record<string, unknown>;
  readonly code: string | undefined;
}

let api: ManagementFixture;
let party: ThirdParty;
let stranger: ThirdParty;
let caId: string;

before(async () => {
  api = await openManagementFixture();
  [party, stranger] = await Promise.all([openThirdParty('partner'), openThirdParty('partner')]);
  caId = await api.make('cas', {
    name: 'partner',
    certPem: party.certificatePem,
    identityRoles: ['partners'],
    isAuthEnabled: true,
    isOttCaEnrollmentEnabled: true,
    isAutoCaEnrollmentEnabled: true,
  });
});
after(() => api.close());

async function post(path: string, own: Partial<Certificate>, body = '', token?: string): Promise<Answer> {
  const headers: Record<string, string> = { 'content-type': 'text/plain' };
  if (token !== undefined) headers['zt-session'] = token;
  const { status, json } = await rawRequest(api, { method: 'POST', path, headers, body, ...own });
  const { data = {}, error } = json as { data?: Record<string, unknown>; error?: { code: string } };
  return { status, data, code: error?.code };
}

const logIn = (own: Certificate) => post('/edge/client/v1/authenticate?method=cert', own, '{}');
const byItself = (own: Partial<Certificate>, body = '') => post(`/enroll?method=ca&token=${caId}`, own, body);
const verify = async (pem: string) => {
  const { token } = (await api.logIn()).data;
  return post(`/edge/management/v1/cas/${caId}/verify`, {}, pem, token);
};
const detail = async () =>
  (await api.call('GET', `cas/${caId}`)).data as unknown as Record<string, string | boolean>;

test('an authority enrolls nobody until its key has signed the verification token', async () => {
  const early = await party.issue('early');
  assert.equal((await byItself(early)).code, 'CERT_FAILED_VALIDATION');
  const token = String((await detail())['verificationToken']);
  for (const [wrong, code] of [
    [(await party.issue('another name')).cert, 'INVALID_COMMON_NAME'],
    [(await stranger.issue(token)).cert, 'FAILED_CERTIFICATE_VALIDATION'],
    [party.certificatePem.repeat(2), 'COULD_NOT_VALIDATE'],
    ['no certificate', 'COULD_NOT_VALIDATE'],
  ] as const)
    assert.equal((await verify(wrong)).code, code);
  const proof = (await party.issue(token, { uses: ['server'] })).cert;
  assert.equal((await verify(proof)).status, 200);
  assert.equal((await verify(proof)).code, 'CA_ALREADY_VERIFIED');
  assert.equal((await detail())['isVerified'], true);
  for (const body of [
    { name: 'again', certPem: party.certificatePem },
    { name: 'leaf', certPem: early.cert },
    { name: 'claim', certPem: stranger.certificatePem, externalIdClaim: { location: 'DNS' } },
  ])
    assert.equal((await api.call('POST', 'cas', body)).error.code, 'COULD_NOT_VALIDATE', body.name);
  const forged = await api.call('PATCH', `cas/${caId}`, { isVerified: true });
  assert.equal(forged.error.cause?.field, 'isVerified');
});

test('a token gives an identity the certificate that it presents, once', async () => {
  const enrollment = { ottca: caId };
  const id = await api.make('identities', { name: 'Ada', type: 'User', enrollment });
  const shown = (await api.call('GET', `identities/${id}`)).data.enrollment as unknown as {
    ottca: { token: string; caId: string };
  };
  assert.equal(shown.ottca.caId, caId);
  const enroll = (own: Partial<Certificate>) => post(`/enroll?method=ottca&token=${shown.ottca.token}`, own);
  const own = await party.issue('ada');
  assert.equal((await logIn(own)).status, 401, 'not before it is enrolled');
  const past = { notBeforeMs: 0, notAfterMs: Date.now() - 1_000 };
  for (const wrong of [
    {},
    await stranger.issue('ada'),
    await party.issue('ada', past),
    await party.issue('ada', { uses: ['server'] }),
    { cert: party.certificatePem, key: party.keyPem },
  ])
    assert.equal((await enroll(wrong)).code, 'CERT_FAILED_VALIDATION');
  assert.equal((await enroll(own)).status, 200);
  assert.equal((await enroll(own)).code, 'INVALID_ENROLLMENT_TOKEN');
  const { status, data } = await logIn(own);
  assert.deepEqual([status, data['identityId']], [200, id]);
  const [kept] = (await api.call('GET', `identities/${id}/authenticators`)).data;
  assert.equal((kept as unknown as { isIssuedByNetwork: boolean }).isIssuedByNetwork, false);
  const renewal = await post('/enroll/extend/identity', own, JSON.stringify({ csr: 'x' }));
  assert.equal(renewal.code, 'COULD_NOT_VALIDATE', 'only its issuer renews it');
  const unknown = { name: 'Bob', type: 'User', enrollment: { ottca: 'no-authority' } };
  assert.equal((await api.call('POST', 'identities', unknown)).error.cause?.field, 'enrollment');
});

test('a certificate alone makes an identity with the roles of its authority, once', async () => {
  const own = await party.issue('machine');
  assert.equal((await byItself(await stranger.issue('machine'))).code, 'CERT_FAILED_VALIDATION');
  assert.equal((await byItself({})).code, 'CERT_FAILED_VALIDATION');
  assert.equal((await byItself(own, '{"name":"wanted"}')).status, 200);
  assert.equal((await byItself(own)).code, 'CERT_IN_USE');
  const { identityId } = (await logIn(own)).data as { identityId: string };
  const { name, roleAttributes } = (await api.call('GET', `identities/${identityId}`)).data;
  assert.deepEqual([name, roleAttributes], ['partner-machine', ['partners']]);
  await api.call('PATCH', `cas/${caId}`, { identityNameFormat: 'from [caName]: [requestedName]' });
  const named = await party.issue('machine');
  assert.equal((await byItself(named, '{"name":"wanted"}')).status, 200);
  const second = (await logIn(named)).data as { identityId: string };
  assert.equal(api.model.identity(second.identityId)?.name, 'from partner: wanted');
  const token = await rawRequest(api, {
    path: `/edge/management/v1/cas/${caId}/jwt`,
    headers: { 'zt-session': (await api.logIn()).data.token },
  });
  const claims = JSON.parse(Buffer.from(token.text.split('.')[1]!, 'base64url').toString()) as { em: string };
  assert.equal(claims.em, 'ca');
});

test('log-ins and sessions end with the right of the authority, and come back with it', async () => {
  const own = await party.issue('guest');
  await byItself(own);
  const { token } = (await logIn(own)).data as { token: string };
  const isOpen = async () => {
    const path = '/edge/client/v1/current-identity';
    return (await rawRequest(api, { path, headers: { 'zt-session': token }, ...own })).status === 200;
  };
  const { identityId } = (await logIn(own)).data as { identityId: string };
  await api.call('PATCH', `identities/${identityId}`, { isAdmin: true });
  const administers = await post('/edge/management/v1/authenticate?method=cert', own, '{}');
  const asAdministrator = async () =>
    (await api.call('GET', 'services', undefined, administers.data['token'] as string)).status === 200;
  assert.deepEqual([await isOpen(), await asAdministrator()], [true, true]);
  await api.call('PATCH', `cas/${caId}`, { isAuthEnabled: false });
  assert.deepEqual([await isOpen(), await asAdministrator(), (await logIn(own)).status], [false, false, 401]);
  await api.call('PATCH', `cas/${caId}`, { isAuthEnabled: true });
  assert.equal((await logIn(own)).status, 200);
  assert.equal((await api.call('DELETE', `cas/${caId}`)).status, 200);
  assert.equal((await logIn(own)).status, 401);
});

test('there are at most 200 authorities', async () => {
  const many = { kind: 'ca', data: {}, tags: {}, createdAtMs: 0, updatedAtMs: 0 } as const;
  await api.store.transaction(async (trx, touch) => {
    for (let i = 0; i < MAX_AUTHORITIES; i++)
      await insertEdgeEntity(trx, touch, { ...many, id: `ca-${i}`, name: `ca-${i}` });
  });
  const one = { name: 'one too many', certPem: stranger.certificatePem };
  assert.equal((await api.call('POST', 'cas', one)).status, 429);
});
