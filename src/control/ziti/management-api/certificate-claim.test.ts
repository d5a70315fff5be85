// Authorities of other parties whose certificates name their identity, and authorities below them.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, before, test } from 'node:test';
import { openThirdParty, type ThirdParty } from '../../../../test/support/third-party.ts';
import { rawRequest } from '../client-api/edge-api-fixture.ts';
import { OidcFlow } from '../client-api/oidc-flow-fixture.ts';
import { externalIdOf, type CertificateClaim } from '../../pki/mod.ts';
import { openManagementFixture, type ManagementFixture } from './management-fixture.ts';

type Certificate = Awaited<ReturnType<ThirdParty['issue']>>;

const SPIFFE = 'spiffe://partner.example/ada';
const CLAIM = {
  location: 'SAN_URI',
  matcher: 'SCHEME',
  matcherCriteria: 'spiffe',
  parser: 'NONE',
  parserCriteria: '',
  index: 0,
};

let api: ManagementFixture;
let party: ThirdParty;
let below: ThirdParty;
let caId: string;

before(async () => {
  api = await openManagementFixture();
  party = await openThirdParty('partner');
  below = await party.below('partner of a region');
  caId = await verified('partner', party, { externalIdClaim: CLAIM });
});
after(() => api.close());

async function verified(name: string, authority: ThirdParty, more: object): Promise<string> {
  const id = await api.make('cas', {
    name,
    certPem: authority.certificatePem,
    identityRoles: ['partners'],
    isAuthEnabled: true,
    isOttCaEnrollmentEnabled: true,
    isAutoCaEnrollmentEnabled: true,
    ...more,
  });
  const { data } = await api.call('GET', `cas/${id}`);
  const token = (data as unknown as { verificationToken: string }).verificationToken;
  const path = `/edge/management/v1/cas/${id}/verify`;
  const { cert } = await authority.issue(token);
  const headers = { 'zt-session': (await api.logIn()).data.token, 'content-type': 'text/plain' };
  const answer = await rawRequest(api, { method: 'POST', path, headers, body: cert });
  assert.equal(answer.status, 200, answer.text);
  return id;
}

const named = (uri: string, by: ThirdParty = party, more: object = {}) =>
  by.issue('a machine', { names: [{ type: 'url', value: uri }], ...more });

async function post(path: string, own: Certificate) {
  const { status, json } = await rawRequest(api, { method: 'POST', path, body: '{}', ...own });
  const { data = {}, error } = json as { data?: Record<string, unknown>; error?: { code: string } };
  return { status, data, code: error?.code };
}

const logIn = (own: Certificate) => post('/edge/client/v1/authenticate?method=cert', own);
const idOf = async (own: Certificate) => (await logIn(own)).data['identityId'];
const enroll = (own: Certificate, id = caId) => post(`/enroll?method=ca&token=${id}`, own);
const person = (name: string, externalId: string) =>
  api.make('identities', { name, type: 'User', externalId });

test('a certificate that no one has seen logs in the identity that it names', async () => {
  const adaId = await person('Ada', SPIFFE);
  const own = await named(SPIFFE);
  assert.equal(await idOf(own), adaId);
  assert.equal(await idOf(await named(SPIFFE)), adaId, 'the next certificate, too');
  const stranger = await openThirdParty('partner');
  const past = { notBeforeMs: 0, notAfterMs: Date.now() - 1_000 };
  for (const wrong of [
    await named('spiffe://partner.example/nobody'),
    await named('https://partner.example/ada'),
    await party.issue(SPIFFE),
    await named(SPIFFE, stranger),
    await named(SPIFFE, party, past),
    await named(SPIFFE, party, { uses: ['server'] }),
  ])
    assert.equal((await logIn(wrong)).status, 401);
  const twinId = await person('twin', SPIFFE);
  assert.equal((await logIn(own)).status, 401, 'two identities have the external id');
  await api.call('DELETE', `identities/${twinId}`);
  assert.equal(await idOf(own), adaId);
});

test('authorities below vouch for a leaf if the client sends them', async () => {
  const own = await named(SPIFFE, below);
  assert.equal((await logIn(own)).status, 200);
  const [leaf = ''] = own.cert.split(/(?<=-----END CERTIFICATE-----\n)/);
  assert.equal((await logIn({ ...own, cert: leaf })).status, 401, 'nothing links it to its authority');
  const tooLow = await below.below('partner of a town');
  assert.equal((await logIn(await named(SPIFFE, tooLow))).status, 401, 'the path is too long');
  const plainId = await verified('plain', await openThirdParty('plain'), {});
  const regional = await enroll(await named('spiffe://partner.example/new', below));
  assert.equal(regional.status, 200);
  assert.equal((await enroll(await below.issue('no name'), plainId)).code, 'MISSING_CERT_CLAIM');
});

test('a certificate of an authority below enrolls by token and alone', async () => {
  const root = await openThirdParty('root');
  const lower = await root.below('lower');
  const rootId = await verified('root', root, {});
  const own = await lower.issue('machine');
  assert.equal((await enroll(own, rootId)).status, 200);
  assert.equal((await logIn(own)).status, 200);
  const id = await api.make('identities', { name: 'Bo', type: 'User', enrollment: { ottca: rootId } });
  const shown = (await api.call('GET', `identities/${id}`)).data.enrollment as unknown as {
    ottca: { token: string };
  };
  const bos = await lower.issue('bo');
  assert.equal((await post(`/enroll?method=ottca&token=${shown.ottca.token}`, bos)).status, 200);
  assert.equal(await idOf(bos), id);
});

test('an enrollment by the certificate gives the identity its external id, once', async () => {
  const uri = 'spiffe://partner.example/machine-7';
  assert.equal((await enroll(await named(uri))).status, 200);
  assert.equal((await enroll(await named(uri))).code, 'CERT_IN_USE');
  const id = String(await idOf(await named(uri)));
  const shown = (await api.call('GET', `identities/${id}`)).data as unknown as { externalId: string };
  assert.equal(shown.externalId, uri);
  assert.deepEqual((await api.call('GET', `identities/${id}/authenticators`)).data, []);
});

test('sessions end with the claim, the authority or the external id, and are not refreshed after the certificate', async () => {
  const uri = 'spiffe://partner.example/cy';
  const cyId = await person('Cy', uri);
  const own = await named(uri);
  const open = async () => {
    const flow = new OidcFlow(api, own);
    const tokens = await flow.tokens(await flow.step('cert', { id: await flow.begin('cert') }));
    assert.deepEqual([await flow.services(tokens), (await flow.refresh(tokens)).status], [200, 200]);
    // As the Go SDK, which does not present it.
    assert.equal((await new OidcFlow(api).refresh(tokens)).status, 200);
    return () => [...api.sessions.all()].some(({ identityId }) => identityId === cyId);
  };
  for (const change of [{ isAuthEnabled: false }, { externalIdClaim: { matcherCriteria: 'https' } }]) {
    const isOpen = await open();
    assert.equal((await api.call('PATCH', `cas/${caId}`, change)).status, 200);
    assert.deepEqual([isOpen(), (await logIn(own)).status], [false, 401]);
    const back = { isAuthEnabled: true, externalIdClaim: { matcherCriteria: 'spiffe' } };
    assert.equal((await api.call('PATCH', `cas/${caId}`, back)).status, 200);
  }
  const flow = new OidcFlow(api, own);
  const tokens = await flow.tokens(await flow.step('cert', { id: await flow.begin('cert') }));
  api.clock.offsetMs = Date.parse(new X509Certificate(own.cert).validTo) + 1_000 - Date.now();
  assert.equal((await flow.refresh(tokens)).status, 400);
  api.clock.offsetMs = 0;
  const isOpen = await open();
  await api.call('PATCH', `identities/${cyId}`, { externalId: `${uri}-2` });
  assert.deepEqual([isOpen(), (await logIn(own)).status], [false, 401]);
  await api.call('PATCH', `identities/${cyId}`, { externalId: uri });
  const again = await open();
  await api.call('DELETE', `cas/${caId}`);
  assert.deepEqual([again(), (await logIn(own)).status], [false, 401]);
});

test('a claim without its criteria, or with a matcher that does not fit, is refused with the place', async () => {
  const { certificatePem: certPem } = await openThirdParty('wrong');
  for (const [change, field] of [
    [{ location: 'COMMON_NAME' }, 'matcher'],
    [{ matcher: 'PREFIX' }, 'matcher'],
    [{ matcherCriteria: '' }, 'matcherCriteria'],
    [{ parser: 'SPLIT' }, 'parserCriteria'],
    [{ location: 'DNS' }, 'location'],
    [{ index: -1 }, 'index'],
  ] as const) {
    const externalIdClaim = { ...CLAIM, ...change };
    const { error } = await api.call('POST', 'cas', { name: 'wrong', certPem, externalIdClaim });
    assert.equal(error.cause?.field, `externalIdClaim.${field}`);
  }
});

test('locations, matchers, parsers and the index select the text', async () => {
  const { cert } = await party.issue('team.a-b', {
    names: [
      { type: 'url', value: 'https://x.example/1' },
      { type: 'email', value: 'ada@x.example' },
      { type: 'email', value: '"a,b"@y.example' },
      { type: 'url', value: 'spiffe://x/2' },
      { type: 'dns', value: 'email.example' },
    ],
  });
  const certificate = new X509Certificate(cert);
  const read = (claim: Partial<CertificateClaim>) =>
    externalIdOf(certificate, {
      location: 'COMMON_NAME',
      matcher: 'ALL',
      matcherCriteria: '',
      parser: 'NONE',
      parserCriteria: '',
      index: 0,
      ...claim,
    });
  for (const [claim, expected] of [
    [{}, 'team.a-b'],
    [{ matcher: 'PREFIX', matcherCriteria: 'team.' }, 'a-b'],
    [{ matcher: 'PREFIX', matcherCriteria: 'x' }, undefined],
    [{ matcher: 'SUFFIX', matcherCriteria: '-b' }, 'team.a'],
    [{ parser: 'SPLIT', parserCriteria: '.', index: 1 }, 'a-b'],
    [{ location: 'SAN_URI' }, 'https://x.example/1'],
    [{ location: 'SAN_URI', matcher: 'SCHEME', matcherCriteria: 'spiffe' }, 'spiffe://x/2'],
    [{ location: 'SAN_URI', index: 2 }, undefined],
    [{ location: 'SAN_EMAIL', matcher: 'SUFFIX', matcherCriteria: '@x.example' }, 'ada'],
    [{ location: 'SAN_EMAIL', index: 1 }, '"a,b"@y.example'],
  ] as const)
    assert.equal(read(claim), expected, JSON.stringify(claim));
});
