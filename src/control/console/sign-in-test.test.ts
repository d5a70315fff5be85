// An administrator signs in with a provider before a share uses it, at a real OpenID provider.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  DEFAULT_CLIENT,
  startIdentityProvider,
  type IdentityProvider,
} from '../../../test/support/identity-provider.ts';
import { goThroughProvider } from '../../../test/support/login-browser.ts';
import { BASE_URL } from '../shares/operations/api-fixture.ts';
import { openConsoleWorld, type ConsoleWorld, type TestBrowser } from './console-fixture.ts';

const ANN = { sub: 'ann', email: 'ann@example.com', name: '<b>Ann</b>', groups: ['staff'] };
const RETURN = '/console/sign-in-test/return';

describe('a test sign-in', () => {
  let world: ConsoleWorld;
  let idp: IdentityProvider;
  let admin: TestBrowser;
  let providerId: string;
  let callbackUrl: string;

  before(async () => {
    idp = await startIdentityProvider({ users: [ANN] });
    world = await openConsoleWorld();
    // Tokens of the provider have the real time.
    world.api.clock.advance(Date.now() - world.api.clock.nowMs());
    admin = await world.person('administrator', 'ada@example.com');
    const client = { client_id: DEFAULT_CLIENT.id, client_secret: DEFAULT_CLIENT.secret };
    const data = { issuer: idp.issuer, ...client, scopes: ['openid', 'profile', 'email', 'groups'] };
    providerId = await makeProvider(data);
    callbackUrl = await callbackOf(providerId);
    idp.allowRedirects([callbackUrl]);
  });
  after(async () => {
    await world?.close();
    await idp?.close();
  });

  const door = (path: string) => `/frontdoor/${world.api.first.frontdoorId}/auth-providers${path}`;
  async function makeProvider(data: object): Promise<string> {
    const made = await world.api.call('POST', door(''), { body: { name: 'Staff', type: 'OIDC', data } });
    assert.equal(made.status, 201, made.text);
    return (made.body as { id: string }).id;
  }
  async function callbackOf(id: string): Promise<string> {
    const { body } = await world.api.call('POST', door(`/${id}/check`));
    return (body as { callbackUrls: string[] }).callbackUrls[0]!;
  }
  const start = (browser: TestBrowser, id = providerId) =>
    browser.get(`/console/sign-in-test/${world.api.first.frontdoorId}/${id}`);

  /** As the gateway at `oauth.<zone>` does: it passes the parameters on, and redirects to what the control plane answers. */
  async function throughGateway(back: URL): Promise<string> {
    const parameters = Object.fromEntries(back.searchParams);
    const [, id = ''] = back.pathname.split('/');
    const callback = { host: back.hostname, providerId: id, parameters, address: '192.0.2.1' };
    const returned = await world.login.logins.finish(callback);
    assert.ok(returned.type === 'redirect', JSON.stringify(returned));
    const { origin, pathname, search } = new URL(returned.url);
    assert.equal(origin + pathname, `${new URL(BASE_URL).origin}${RETURN}`);
    return pathname + search;
  }
  async function signIn(browser: TestBrowser): Promise<string> {
    const begun = await start(browser);
    assert.equal(begun.statusCode, 303, begun.body);
    assert.equal(new URL(begun.headers.location!).searchParams.get('redirect_uri'), callbackUrl);
    return throughGateway(await goThroughProvider(begun.headers.location!, { user: 'ann' }));
  }
  /** The page on the way has no session, because another site began the redirect. */
  async function resultOf(browser: TestBrowser, back: string) {
    const page = await browser.get(back, { 'sec-fetch-site': 'cross-site' });
    const [, to = ''] = /content="0; url=([^"]+)"/.exec(page.body) ?? [];
    return browser.get(to.replaceAll('&amp;', '&'));
  }

  it('goes through the callback URL of the gateways, and shows the claims without tokens and without a session', async () => {
    const before = await world.api.call('GET', door(`/${providerId}/sessions`));
    const result = await resultOf(admin, await signIn(admin));
    assert.equal(result.statusCode, 200, result.body);
    assert.match(result.body, /The sign-in works/);
    assert.match(result.body, /ann@example\.com/);
    assert.match(result.body, /staff/);
    assert.match(result.body, /No share and no console sign-in uses this provider yet/);
    assert.match(result.body, /&lt;b&gt;Ann&lt;\/b&gt;/);
    assert.doesNotMatch(result.body.split('<main>')[1]!, /eyJ[\w-]+\.eyJ|access_token|nonce|<b>Ann/);
    assert.deepEqual((await world.api.call('GET', door(`/${providerId}/sessions`))).body, before.body);
    const { body } = await world.api.call('GET', '/audit-events?action=testAuthProviderSignIn');
    assert.equal((body as { content: unknown[] }).content.length, 1);
  });

  it('shows the role that the rules of the console sign-in would give', async () => {
    const roles = [{ group: 'staff', role: 'editor' }];
    const body = { authProviderId: providerId, roles };
    const made = await world.api.call('POST', '/console-log-ins', { body });
    assert.equal(made.status, 201, made.text);
    assert.match((await resultOf(admin, await signIn(admin))).body, /Console: the role editor/);
  });

  it('shows the error of the provider, with its remedy', async () => {
    const begun = await start(admin);
    const { searchParams } = new URL(begun.headers.location!);
    const denied = new URL(callbackUrl);
    denied.searchParams.set('state', searchParams.get('state')!);
    denied.searchParams.set('iss', idp.issuer);
    denied.searchParams.set('error', 'access_denied');
    denied.searchParams.set('error_description', 'AADSTS50105: <i>not assigned</i>');
    const result = await resultOf(admin, await throughGateway(denied));
    assert.match(result.body, /The sign-in failed/);
    assert.match(result.body, /access_denied: AADSTS50105: &lt;i&gt;not assigned/);
    assert.match(result.body, /assigned to the application/);
    const wrong = { issuer: idp.issuer, client_id: DEFAULT_CLIENT.id, client_secret: 'of another client' };
    const id = await makeProvider(wrong);
    idp.allowRedirects([callbackUrl, await callbackOf(id)]);
    const other = await start(admin, id);
    const back = await goThroughProvider(other.headers.location!, { user: 'ann' });
    const failed = await resultOf(admin, await throughGateway(back));
    assert.match(failed.body, /the token endpoint says invalid_client/);
    assert.match(failed.body, /Check the client ID, the client secret/);
  });

  it('ends once, in the session and browser that began it, within ten minutes', async () => {
    const back = await signIn(admin);
    const other = await world.person('administrator', 'bea@example.com');
    assert.match((await resultOf(other, back)).body, /started by another session/);
    const [stolen] = /__Host-frontdoor-console-test=[^;]+/.exec(admin.lastSetCookie) ?? [];
    const query = back.slice(back.indexOf('?'));
    const cookie = `${other.cookie}; ${stolen}`;
    const thief = await other.get(`/console/sign-in-test/result${query}`, { cookie });
    assert.match(thief.body, /started by another session/);
    assert.match((await resultOf(admin, back)).body, /The sign-in works/);
    assert.match((await resultOf(admin, back)).body, /was completed before/);
    const late = await signIn(admin);
    world.api.clock.advance(600_001);
    assert.match((await resultOf(admin, late)).body, /This test has expired/);
  });

  it('is for people who may change providers, of their own organization', async () => {
    const reader = await world.person('reader', 'rea@example.com');
    assert.equal((await start(reader)).statusCode, 403);
    assert.equal((await start(admin, world.api.first.accountId)).statusCode, 404);
    const nobody = admin.copy();
    nobody.cookie = undefined;
    const answer = await start(nobody);
    assert.match(answer.headers.location!, /^\/console\/log-in\?to=%2Fconsole%2Fsign-in-test%2F/);
    const forged = await resultOf(admin, `${RETURN}?code=x&state=made-up`);
    assert.equal(forged.statusCode, 403);
  });
});
