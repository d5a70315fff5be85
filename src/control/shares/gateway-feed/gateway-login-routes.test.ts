import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { Share } from '#domain';
import type { GatewayFeedEvent, LoginStart } from '#domain/gateway-shapes';
import { EgressClient } from '#net';
import { parseAllowedNetworks } from '#domain';
import { until } from '../../../../test/support/deadline.ts';
import {
  DEFAULT_CLIENT,
  startIdentityProvider,
  type IdentityProvider,
} from '../../../../test/support/identity-provider.ts';
import { goThroughProvider } from '../../../../test/support/login-browser.ts';
import { putSignInPage } from '../../credentials/people/mod.ts';
import { settleProviderData } from '../provider/provider-secrets.ts';
import { grantFrontdoor } from '../records/frontdoor-store.ts';
import { insertAuthProvider } from '../records/auth-provider-store.ts';
import {
  openEdgeFixture,
  rawRequest,
  type EdgeFixture,
  type Enrolled,
} from '../../ziti/client-api/edge-api-fixture.ts';

let idp: IdentityProvider;
let fixture: EdgeFixture;
let gateway: Enrolled;
let host: Enrolled;
let providerId: string;
let share: Share;

before(async () => {
  idp = await startIdentityProvider({ users: [{ sub: 'ann', email: 'ann@example.com' }] });
  idp.loggedInAs = 'ann';
  const allowed = parseAllowedNetworks('--allow-egress', ['127.0.0.1:*', '[::1]:*']);
  fixture = await openEdgeFixture({}, new EgressClient({ allowed }));
  gateway = await fixture.enroll('gateway', 'gateway');
  host = await fixture.enroll('host');
  const { store, secrets, clock, frontdoorIds } = fixture;
  const { organization_id } = await store.db
    .selectFrom('frontdoor')
    .select('organization_id')
    .where('id', '=', frontdoorIds[0])
    .executeTakeFirstOrThrow();
  const frontdoor = (await grantFrontdoor(store.db, organization_id, frontdoorIds[0]))!;
  const data = {
    issuer: idp.issuer,
    client_id: DEFAULT_CLIENT.id,
    client_secret: DEFAULT_CLIENT.secret,
  };
  const provider = await store.transaction((trx, touch) =>
    insertAuthProvider(trx, touch, frontdoor, {
      name: 'Staff',
      type: 'OIDC',
      enabled: true,
      settled: settleProviderData(secrets, 'OIDC', data),
      nowMs: clock.nowMs(),
    }),
  );
  providerId = provider.id;
  share = await fixture.share({
    environmentId: host.id,
    name: 'app',
    shareMode: 'public',
    authProviderIds: [providerId],
  });
});
after(async () => {
  await fixture.close();
  await idp.close();
});

const start = (): LoginStart => ({
  shareId: share.id,
  host: 'app.share.localhost',
  port: 8443,
  providerId,
  returnTo: '/',
  browser: 'b'.repeat(43),
  address: '192.0.2.1',
});

async function logIn() {
  const { gatewayApi } = gateway;
  const started = await gatewayApi.startLogin(start());
  assert.ok(started.type === 'redirect', JSON.stringify(started));
  const back = await goThroughProvider(started.url);
  const returned = await gatewayApi.finishLogin({
    host: back.hostname,
    providerId,
    parameters: Object.fromEntries(back.searchParams),
    address: '192.0.2.1',
  });
  assert.ok(returned.type === 'redirect', JSON.stringify(returned));
  const code = new URL(returned.url).searchParams.get('code')!;
  const { shareId, host: at, browser } = start();
  const redeemed = await gatewayApi.redeemLogin({ shareId, host: at, code, browser });
  assert.ok(redeemed.type === 'session', JSON.stringify(redeemed));
  return redeemed;
}

test('a gateway completes a log-in, reads the session and ends it, and all gateways are notified', async () => {
  const other = await fixture.enroll('another', 'gateway');
  const events: GatewayFeedEvent[] = [];
  const feed = other.gatewayApi.subscribeGatewayFeed({
    onLine: (line) => events.push(JSON.parse(line) as GatewayFeedEvent),
    onEnd: () => {},
  });
  await until(
    'the feed opens',
    () => events.length,
    (length) => length > 0,
  );
  const [snapshot] = events;
  assert.ok(snapshot?.type === 'snapshot');
  assert.deepEqual(snapshot.zones, ['share.localhost']);
  const [provider] = snapshot.providers;
  assert.deepEqual([provider?.id, provider?.type, provider?.version], [providerId, 'OIDC', 1]);
  assert.equal(snapshot.keys.identityKeys.length, 1);
  assert.equal(JSON.stringify(snapshot).includes(DEFAULT_CLIENT.secret), false);

  const { token, session } = await logIn();
  assert.equal(session.identity.email, 'ann@example.com');
  assert.deepEqual(await gateway.gatewayApi.findSession({ token }), session);
  assert.equal(await gateway.gatewayApi.findSession({ token: 'another' }), null);
  await gateway.gatewayApi.endSession({ token });
  assert.equal(await gateway.gatewayApi.findSession({ token }), null);
  await until(
    'the other gateway is notified',
    () =>
      events.some((event) => event.type === 'delta' && event.endedSessions?.includes(session.id) === true),
    (isReported) => isReported,
  );
  feed.close();
});

test('times of last use are stored, never backwards and never in the future', async () => {
  const { session } = await logIn();
  const lastUsed = async () =>
    (
      await fixture.store.db
        .selectFrom('login_session')
        .select('last_used_at')
        .where('id', '=', session.id)
        .executeTakeFirstOrThrow()
    ).last_used_at;
  const use = (lastUsedAtMs: number) =>
    gateway.gatewayApi.reportUsage({
      keys: [],
      sessions: [{ id: session.id, lastUsedAtMs }],
      certifiedZones: [],
      domains: [],
      tcpPorts: null,
      udpPorts: null,
    });
  const before = await lastUsed();
  await use(before - 1_000);
  assert.equal(await lastUsed(), before);
  fixture.clock.offsetMs += 10_000;
  await use(before + 5_000);
  assert.equal(await lastUsed(), before + 5_000);
  await use(before + 1_000_000);
  assert.ok((await lastUsed()) <= fixture.clock.nowMs());
});

test('these calls are for gateways, and unreadable ones are refused without their text in the log', async () => {
  const paths = ['logins/start', 'logins/callback', 'logins/redeem', 'sessions/find', 'sessions/end'];
  const secret = `secret-${randomUUID()}`;
  for (const path of [...paths, 'providers/refresh', 'usage']) {
    const request = { method: 'POST', path: `/gateway/v1/${path}`, body: JSON.stringify({ token: secret }) };
    assert.equal((await rawRequest(fixture, request)).status, 401, path);
    const asHost = { ...request, cert: host.identity.certPem, key: host.identity.keyPem };
    assert.equal((await rawRequest(fixture, asHost)).status, 403, path);
    const asGateway = { ...request, cert: gateway.identity.certPem, key: gateway.identity.keyPem };
    if (!path.startsWith('sessions/')) assert.equal((await rawRequest(fixture, asGateway)).status, 400, path);
    assert.equal((await rawRequest(fixture, { ...asGateway, body: '[]' })).status, 400, path);
  }
  for (const wrong of [
    { returnTo: '//elsewhere.example' },
    { returnTo: '/\\elsewhere.example' },
    { returnTo: 'https://elsewhere.example' },
    { returnTo: '/a\r\nb' },
    { returnTo: '' },
    { host: 'app.share.localhost/..' },
    { host: 'APP.share.localhost' },
    { port: 0 },
    { browser: 'short' },
    { shareId: '../x' },
  ]) {
    const asked = gateway.gatewayApi.startLogin({ ...start(), ...wrong });
    await assert.rejects(
      asked,
      (error: { kind?: string }) => error.kind === 'invalid',
      JSON.stringify(wrong),
    );
  }
  const many = Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`p${i}`, 'x']));
  const flood = { host: 'oauth.share.localhost', providerId, parameters: many, address: '192.0.2.1' };
  await assert.rejects(gateway.gatewayApi.finishLogin(flood));
  assert.equal(fixture.logged.join().includes(secret), false);
});

test('a gateway gets the name and logo that the organization of a share has set, and none of others', async () => {
  const { gatewayApi } = gateway;
  const none = { title: null, logo: null };
  assert.deepEqual(await gatewayApi.signInPage({ shareId: share.id }), none);
  const { store, frontdoorIds } = fixture;
  const { organization_id: organizationId } = await store.db
    .selectFrom('frontdoor')
    .select('organization_id')
    .where('id', '=', frontdoorIds[0])
    .executeTakeFirstOrThrow();
  const page = { title: 'Example', logo: 'aWNvbg==' };
  await store.transaction((trx) => putSignInPage(trx, organizationId, page));
  assert.deepEqual(await gatewayApi.signInPage({ shareId: share.id }), page);
  assert.deepEqual(await gatewayApi.signInPage({ shareId: randomUUID() }), none);
});
