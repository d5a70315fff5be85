// Events of the kind `authentication`, and administrators that log in by tokens: of OpenID Connect, and of other parties.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { WebSocket } from 'ws';
import { rawRequest } from '../client-api/edge-api-fixture.ts';
import { OidcFlow, type OidcTokens } from '../client-api/oidc-flow-fixture.ts';
import {
  AUDIENCE,
  ISSUER,
  JWKS,
  openExternalIssuer,
  type ExternalIssuer,
} from './external-issuer-fixture.ts';
import { FABRIC_EVENTS_PATH } from './fabric-event-routes.ts';
import { FabricStreamReader } from './fabric-stream-fixture.ts';
import { CREDENTIALS, openManagementFixture, type ManagementFixture } from './management-fixture.ts';

const MANAGEMENT = '/edge/management/v1';

let api: ManagementFixture;
let signer: ExternalIssuer;
let reader: FabricStreamReader;
before(async () => {
  signer = await openExternalIssuer();
  api = await openManagementFixture(signer.egress);
  const { token } = (await api.logIn()).data;
  reader = await FabricStreamReader.open(api, { 'zt-session': token });
});
after(async () => {
  reader.socket.terminate();
  await api.close();
});

/** What tests compare of the next event. */
async function attempt(): Promise<readonly unknown[]> {
  const { type, event } = await reader.event();
  const { remote_address: address, improper_client_cert_chain: isImproper } = event;
  assert.deepEqual([type, event['namespace'], isImproper], ['authentication', 'authentication', false]);
  assert.match(String(address), /^127\.0\.0\.1:\d+$/);
  assert.equal(event['success'], event['event_type'] === 'success');
  return [event['event_type'], event['type'], event['identity_id'], event['auth_policy_id'], event['reason']];
}

const get = async (path: string, headers: Record<string, string>): Promise<number> =>
  (await rawRequest(api, { path: `${MANAGEMENT}/${path}`, headers })).status;

async function administrator(name: string, password: string): Promise<string> {
  const id = await api.make('identities', { name, type: 'User', isAdmin: true });
  await api.make('authenticators', { method: 'updb', identityId: id, username: name, password });
  return id;
}

async function tokensOf(username: string, password: string): Promise<OidcTokens> {
  const flow = new OidcFlow(api);
  const id = await flow.begin('password');
  return flow.tokens(await flow.step('password', { id, username, password }));
}

describe('events of log-ins', () => {
  it('have each attempt at both APIs, with its identity, method and outcome', async () => {
    assert.equal(await reader.subscribe({ type: 'authentication' }), 'ok success');
    const { username } = CREDENTIALS;
    await api.logIn();
    assert.deepEqual(await attempt(), ['success', 'password', api.adminId, 'default', '']);
    await api.logIn({ username, password: 'wrong' });
    assert.deepEqual(await attempt(), [
      'fail',
      'password',
      api.adminId,
      'default',
      'the credentials are wrong',
    ]);
    await api.logIn({ username: 'nobody', password: 'wrong' });
    assert.deepEqual(await attempt(), ['fail', 'password', '', '', 'the credentials are wrong']);
    const { id, identity } = await api.enroll('a machine that logs in');
    const tls = { cert: identity.certPem, key: identity.keyPem };
    const logIn = { method: 'POST', path: '/authenticate?method=cert', body: '{}' };
    await rawRequest(api, { ...logIn, ...tls });
    // The fixture's client may log in, too.
    assert.deepEqual(await attempt(), ['success', 'cert', id, 'default', '']);
    await rawRequest(api, logIn);
    assert.deepEqual((await attempt()).slice(0, 4), ['fail', 'cert', '', '']);
    const body = JSON.stringify({ username, password: 'wrong' });
    await rawRequest(api, { method: 'POST', path: '/authenticate?method=password', body });
    const reason = 'the user name or the password is wrong';
    assert.deepEqual(await attempt(), ['fail', 'password', api.adminId, 'default', reason]);
  });

  it('are selected by their outcome, and no other selection is accepted', async () => {
    const { token } = (await api.logIn()).data;
    const failures = await FabricStreamReader.open(api, { 'zt-session': token });
    const select = (include: unknown) => failures.subscribe({ type: 'authentication', options: { include } });
    assert.match(await select('failed'), /^authentication: invalid include failed: success, fail are valid/);
    assert.equal(await select(['fail']), 'ok success');
    await api.logIn();
    await api.logIn({ username: 'nobody', password: 'at all' });
    assert.equal((await failures.event()).event['event_type'], 'fail');
    failures.socket.terminate();
  });
});

describe('an administrator with a token', () => {
  it('of OpenID Connect calls the API and follows events while the session and the right last', async () => {
    const password = 'of the operator';
    const id = await administrator('operator', password);
    const { access_token: token } = await tokensOf('operator', password);
    const headers = { authorization: `Bearer ${token}` };
    assert.equal(await get('services', headers), 200);
    assert.equal(await get('services', { authorization: `Bearer ${token.slice(0, -4)}AAAA` }), 401);
    const stream = await FabricStreamReader.open(api, headers);
    assert.equal(await stream.subscribe({ type: 'router' }), 'ok success');
    await api.call('PATCH', `identities/${id}`, { isAdmin: false });
    await stream.closed();
    assert.equal(await get('services', headers), 401);
    await api.call('PATCH', `identities/${id}`, { isAdmin: true });
    assert.equal(await get('current-api-session', headers), 200);
    const path = `${MANAGEMENT}/current-api-session`;
    assert.equal((await rawRequest(api, { method: 'DELETE', path, headers })).status, 200);
    assert.equal(await get('services', headers), 401);
  });

  it('that is no administrator opens nothing', async () => {
    const id = await api.make('identities', { name: 'plain', type: 'User' });
    await api.make('authenticators', {
      method: 'updb',
      identityId: id,
      username: 'plain',
      password: 'of a plain user',
    });
    const { access_token: token } = await tokensOf('plain', 'of a plain user');
    const headers = { authorization: `Bearer ${token}` };
    assert.equal(await get('services', headers), 401);
    const url = api.apiUrl.replace('https', 'wss') + FABRIC_EVENTS_PATH;
    const socket = new WebSocket(url, { ca: api.pki.caBundlePem, headers });
    const refused = await new Promise<string>((resolve) => {
      socket.on('error', ({ message }) => resolve(message));
    });
    assert.match(refused, /401/);
  });

  it('of another party logs in at the management API, as its policy permits', async () => {
    const id = await api.make('identities', {
      name: 'Ada',
      type: 'User',
      isAdmin: true,
      externalId: 'ada@example.com',
    });
    await api.make('external-jwt-signers', {
      name: 'idp',
      issuer: ISSUER,
      audience: AUDIENCE,
      jwksEndpoint: JWKS,
      enabled: true,
      claimsProperty: 'email',
      useExternalId: true,
    });
    const logIn = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` };
      const path = `${MANAGEMENT}/authenticate?method=ext-jwt`;
      return rawRequest(api, { method: 'POST', path, headers, body: '{}' });
    };
    const { status, json } = await logIn(await signer.token());
    const { data } = json as { data: { identityId: string; token: string } };
    assert.deepEqual([status, data.identityId], [200, id]);
    assert.equal(await get('services', { 'zt-session': data.token }), 200);
    const other = await signer.token({ claims: { email: 'nobody@example.com' } });
    assert.equal((await logIn(other)).status, 401);
    const primary = { extJwt: { allowed: false, allowedSigners: [] } };
    const policy = await api.make('auth-policies', { name: 'no tokens', primary });
    await api.call('PATCH', `identities/${id}`, { authPolicyId: policy });
    assert.equal((await logIn(await signer.token())).status, 401);
  });
});
