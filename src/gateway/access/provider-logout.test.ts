import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { AccessWorld, providerOf } from '../testing/access-world.ts';
import { SESSION_COOKIE } from './own-cookies.ts';
import { providerLogoutUrl } from './provider-logout.ts';

const PROVIDER = 'aaaa1111-0000-4000-8000-000000000001';
const LOGOUT = '/.frontdoor/logout?provider=true';
const DOMAIN = 'app.shop.example';

describe('a log-out at the identity provider too', () => {
  const logout = { endpoint: 'https://idp.example/log-out?tenant=a', clientId: 'a client' };
  let world: AccessWorld;
  before(async () => {
    world = await AccessWorld.start();
    await world.serve('app', {
      authProviderIds: [PROVIDER],
      customHosts: [{ host: DOMAIN, authProviderIds: [PROVIDER], isDomain: true }],
    });
  });
  after(() => world.close());
  beforeEach(() => world.setProviders(providerOf(PROVIDER, { logout })));

  const status = async (line: string): Promise<number> => (await world.ask('app', { lines: [line] })).status;
  const page = (port: number): string =>
    `https://oauth.share.localhost${port === 443 ? '' : `:${port}`}/${PROVIDER}/auth/logged-out`;
  const expected = (port: number): string => {
    const query = new URLSearchParams({ tenant: 'a', client_id: 'a client' });
    query.set('post_logout_redirect_uri', page(port));
    return `https://idp.example/log-out?${query.toString()}`;
  };

  it('comes back to the login host of the frontend from a domain of the share, which has sessions of its own', async () => {
    const line = world.sessionLine('app', PROVIDER, { host: DOMAIN });
    const ask = (more: object = {}) => world.ask('app', { host: DOMAIN, lines: [line], ...more });
    assert.equal((await ask()).status, 200);
    assert.notEqual((await world.ask('app', { lines: [line] })).status, 200, 'the session is for the domain');
    const answer = await ask({ path: LOGOUT });
    assert.deepEqual([answer.status, answer.headers.get('location')], [303, expected(world.securePort)]);
    assert.equal((await world.ask('app', { host: 'www.shop.example', lines: [line] })).status, 404);
  });

  it('ends the session here and sends the browser there, with nothing of the request', async () => {
    for (const isKnown of [true, false]) {
      for (const target of [
        LOGOUT,
        `${LOGOUT}&post_logout_redirect_uri=https%3A%2F%2Fevil.example&state=x`,
      ]) {
        const line = world.sessionLine('app', PROVIDER);
        if (isKnown) assert.equal(await status(line), 200);
        const answer = await world.ask('app', { path: target, lines: [line] });
        assert.equal(answer.status, 303);
        assert.equal(answer.headers.get('location'), expected(world.securePort));
        assert.match(answer.setCookies.join(), new RegExp(`^${SESSION_COOKIE}=;.*Max-Age=0`));
        assert.equal(await status(line), 401);
      }
    }
  });

  it('is asked for by its parameter alone: without it the log-out stays here', async () => {
    for (const target of [
      '/.frontdoor/logout',
      '/.frontdoor/logout?provider=1',
      `${LOGOUT}&provider=true`,
      `/.frontdoor/logout?to=${encodeURIComponent('https://evil.example')}`,
    ]) {
      const line = world.sessionLine('app', PROVIDER);
      const answer = await world.ask('app', { path: target, lines: [line] });
      assert.deepEqual([answer.status, answer.headers.get('location')], [200, undefined], target);
      assert.equal(await status(line), 401);
    }
  });

  it('ends at a page of Frontdoor where the provider has no log-out address, or nobody is logged in', async () => {
    world.setProviders(providerOf(PROVIDER));
    const line = world.sessionLine('app', PROVIDER);
    const answer = await world.ask('app', { path: LOGOUT, lines: [line] });
    assert.equal(answer.status, 200);
    assert.match(answer.body, /may still be signed in at your identity provider/);
    assert.equal(await status(line), 401);
    world.setProviders(providerOf(PROVIDER, { logout }));
    assert.equal((await world.ask('app', { path: LOGOUT })).status, 200);
  });

  it('is not another site’s to ask for', async () => {
    const line = world.sessionLine('app', PROVIDER);
    const lines = [line, 'Sec-Fetch-Site: cross-site'];
    assert.equal((await world.ask('app', { path: LOGOUT, lines })).status, 403);
    assert.equal(await status(line), 200);
  });

  it('returns to a page of Frontdoor without a redirect, for any parameters', async () => {
    const host = 'oauth.share.localhost';
    const { pathname } = new URL(page(443));
    const answer = await world.ask('', { host, path: `${pathname}?state=%3Cscript%3E&to=//evil.example` });
    assert.equal(answer.status, 200);
    assert.match(answer.body, /You are signed out/);
    assert.doesNotMatch(answer.body, /<script|evil|<a /);
    assert.equal((await world.ask('', { host, path: pathname, method: 'POST' })).status, 404);
  });

  it('goes to web addresses of a usual length only', () => {
    const url = (endpoint: string, port = 443) =>
      providerLogoutUrl({ id: PROVIDER, logout: { ...logout, endpoint } }, 'oauth.share.localhost', port);
    assert.equal(url(logout.endpoint), expected(443));
    assert.equal(url(logout.endpoint, 8443), expected(8443));
    for (const wrong of ['javascript:alert(1)', 'log-out', `https://idp.example/${'x'.repeat(9_000)}`])
      assert.equal(url(wrong), undefined);
    assert.equal(providerLogoutUrl({ id: PROVIDER }, 'oauth.share.localhost', 443), undefined);
  });
});
