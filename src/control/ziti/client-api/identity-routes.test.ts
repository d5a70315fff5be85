// What a client reads about itself: its identity, compared with the recorded answer of OpenZiti 1.7.2, its certificates,
// and its service sessions.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { fingerprintOf } from '#net/channel';
import { makeKeyRequest } from '#sdk';
import { openEdgeFixture, rawRequest, type EdgeFixture, type Enrolled } from './edge-api-fixture.ts';

interface Body {
  readonly data: Record<string, unknown> & Record<string, unknown>[];
  readonly meta: { readonly pagination: { readonly totalCount: number } };
  readonly error: { readonly code: string };
}

let fixture: EdgeFixture;
let host: Enrolled;
let guest: Enrolled;

before(async () => {
  fixture = await openEdgeFixture();
  host = await fixture.enroll('host');
  guest = await fixture.enroll('guest');
});
after(() => fixture.close());

async function call(who: Enrolled, path: string, body?: unknown): Promise<{ status: number; json: Body }> {
  const { status, json } = await rawRequest(fixture, {
    path: `/edge/client/v1${path}`,
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'zt-session': (await who.client.session()).token },
    body: body === undefined ? undefined : JSON.stringify(body),
    cert: who.identity.certPem,
    key: who.identity.keyPem,
  });
  return { status, json: json as Body };
}

const fingerprintOfPem = (pem: string): string => fingerprintOf(new X509Certificate(pem));

test('the identity has the recorded fields with their types, and its own certificate as authenticator', async () => {
  const vectors = new URL('../../../../test/vectors/openziti-1.7.2-rest.jsonl', import.meta.url);
  const line = readFileSync(vectors, 'utf8')
    .split('\n')
    .find((one) => one.includes('"url":"/edge/client/v1/current-identity"'));
  const recorded = (JSON.parse(line!) as { responseBody: Body }).responseBody.data;
  const { data } = (await call(host, '/current-identity')).json;
  for (const [field, value] of Object.entries(recorded))
    assert.equal(typeof data[field], typeof value, field);
  assert.equal(data['id'], host.id);
  const fingerprint = fingerprintOfPem(host.identity.certPem);
  assert.deepEqual(data['authenticators'], { cert: { fingerprint, id: fingerprint } });
});

test('what its client reported last is shown, cut and without control characters', async () => {
  const who = await fixture.enroll('reports');
  const shown = async () => {
    const { data } = (await call(who, '/current-identity')).json;
    return { envInfo: data['envInfo'], sdkInfo: data['sdkInfo'] };
  };
  const logIn = async (body: unknown) => {
    const { status } = await rawRequest(fixture, {
      path: '/authenticate?method=cert',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      cert: who.identity.certPem,
      key: who.identity.keyPem,
    });
    assert.equal(status, 200);
  };
  assert.deepEqual(await shown(), {
    envInfo: { os: process.platform, arch: process.arch },
    sdkInfo: { type: 'frontdoor', version: 'unknown' },
  });
  const osVersion = 'FreeBSD 14.1\u0000\u001b[31m\u202e GENERIC\n';
  await logIn({
    envInfo: { os: 'x'.repeat(10_000), osVersion, arch: 7, other: 'y' },
    sdkInfo: { type: 'sdk', version: `1\ud800`, appId: '\n', branch: { deep: 1 } },
  });
  const kept = {
    envInfo: { os: 'x'.repeat(255), osVersion: 'FreeBSD 14.1 [31m GENERIC' },
    sdkInfo: { type: 'sdk', version: '1\ufffd' },
  };
  assert.deepEqual(await shown(), kept);
  // A log-in that reports nothing readable leaves it.
  for (const body of [{}, { envInfo: null, sdkInfo: [] }, { envInfo: 'x', sdkInfo: 7 }]) await logIn(body);
  assert.deepEqual(await shown(), kept);
});

test('its certificates are listed to the identity alone', async () => {
  const id = fingerprintOfPem(host.identity.certPem);
  const list = (await call(host, '/current-identity/authenticators?filter=method="cert"')).json;
  assert.deepEqual(
    list.data.map((one) => [one['id'], one['method'], one['identityId']]),
    [[id, 'cert', host.id]],
  );
  assert.equal((await call(host, `/current-identity/authenticators/${id}`)).json.data['fingerprint'], id);
  assert.equal((await call(guest, `/current-identity/authenticators/${id}`)).status, 404);
});

test('a certificate is extended through its authenticator, and the new one is confirmed', async () => {
  const who = await fixture.enroll('extends');
  const path = `/current-identity/authenticators/${fingerprintOfPem(who.identity.certPem)}`;
  const { csrPem } = await makeKeyRequest(who.id);
  assert.equal((await call(who, `${path}/extend`, {})).status, 400);
  assert.equal((await call(guest, `${path}/extend`, { clientCertCsr: csrPem })).status, 404);
  const extended = (await call(who, `${path}/extend`, { clientCertCsr: csrPem })).json.data;
  const clientCert = extended['clientCert'] as string;
  assert.equal(extended['ca'], fixture.pki.caBundlePem);
  assert.ok(fixture.model.identity(who.id)!.fingerprints.includes(fingerprintOfPem(clientCert)));
  assert.equal((await call(who, `${path}/extend-verify`, { clientCert })).status, 200);
  assert.equal((await call(who, `${path}/extend-verify`, { clientCert: host.identity.certPem })).status, 404);
  assert.equal((await call(who, `${path}/extend-verify`, { clientCert: 'x' })).status, 400);
});

test('service sessions are listed as they are made, one for each permission', async () => {
  const share = await fixture.share({ environmentId: host.id, name: 'listed', grants: [guest.id] });
  const made = (await call(guest, '/sessions', { serviceId: share.id, type: 'Dial' })).json.data;
  const { data, meta } = (await call(guest, '/sessions')).json;
  assert.deepEqual(
    data.map((one) => [one['id'], one['type'], one['serviceId']]),
    [[made['id'], 'Dial', share.id]],
  );
  assert.equal(meta.pagination.totalCount, 1);
  assert.equal(fixture.tokens.verify(data[0]!['token'] as string)?.identityId, guest.id);
  const own = (await call(host, `/sessions?filter=service="${share.id}" and type="Bind"`)).json;
  assert.deepEqual(
    own.data.map((one) => one['type']),
    ['Bind'],
  );
});
