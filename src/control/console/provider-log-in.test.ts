// People log in at the console through a real OpenID provider, and as a hostile one would have them.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  DEFAULT_CLIENT,
  startIdentityProvider,
  type IdentityProvider,
} from '../../../test/support/identity-provider.ts';
import { goThroughProvider } from '../../../test/support/login-browser.ts';
import { BASE_URL } from '../shares/operations/api-fixture.ts';
import { openConsoleWorld, TestBrowser, type ConsoleWorld } from './console-fixture.ts';

const USERS = [
  { sub: 'ann', email: 'ann@example.com', name: 'Ann', groups: ['staff'] },
  { sub: 'bob', email: 'bob@elsewhere.test', name: 'Bob' },
  { sub: 'eve', email: 'eve@example.com', emailVerified: false },
  { sub: 'dan', email: 'dan@partners.test', name: 'Dan' },
  { sub: 'flo', email: 'flo@elsewhere.test', name: 'flo' },
  { sub: 'fox', email: 'fox@elsewhere.test', name: 'fox' },
  { sub: 'hal', email: 'hal@partners.test', name: 'Hal' },
  { sub: 'gil', email: 'gil@elsewhere.test', name: 'gil' },
];

describe('the console with an identity provider', () => {
  let world: ConsoleWorld;
  let idp: IdentityProvider;
  let providerId: string;
  let logInId: string;

  before(async () => {
    idp = await startIdentityProvider({ users: USERS });
    world = await openConsoleWorld();
    // Tokens of the provider have the real time.
    world.api.clock.advance(Date.now() - world.api.clock.nowMs());
    const scopes = ['openid', 'profile', 'email', 'groups'];
    const client = { client_id: DEFAULT_CLIENT.id, client_secret: DEFAULT_CLIENT.secret };
    const data = { issuer: idp.issuer, ...client, scopes };
    const path = `/frontdoor/${world.api.first.frontdoorId}/auth-providers`;
    const made = await world.api.call('POST', path, { body: { name: 'Staff & Co', type: 'OIDC', data } });
    providerId = (made.body as { id: string }).id;
    const roles = [
      { group: 'staff', role: 'editor' },
      { email: '*@example.com', role: 'reader' },
    ];
    const body = { authProviderId: providerId, roles };
    const answer = await world.api.call('POST', '/console-log-ins', { body });
    assert.equal(answer.status, 201, answer.text);
    const logIn = answer.body as { id: string; callbackUrl: string };
    logInId = logIn.id;
    assert.equal(logIn.callbackUrl, `${BASE_URL}/console/callback/${providerId}`);
    idp.allowRedirects([logIn.callbackUrl]);
  });
  after(async () => {
    await world?.close();
    await idp?.close();
  });

  /** Returns the address to which the provider sends the browser back. */
  async function through(browser: TestBrowser, user: string, to = '/console'): Promise<string> {
    const begun = await browser.get(`/console/log-in/with/${providerId}?to=${encodeURIComponent(to)}`);
    assert.equal(begun.statusCode, 303, begun.body);
    const back = await goThroughProvider(begun.headers.location!, { user });
    assert.equal(back.origin, BASE_URL);
    return back.pathname + back.search;
  }

  const logInPage = () => `/console/log-in?organization=${world.api.first.organizationId}`;

  async function logIn(user: string): Promise<TestBrowser> {
    const browser = new TestBrowser(world.app);
    const answer = await browser.get(await through(browser, user), { 'sec-fetch-site': 'cross-site' });
    assert.equal(answer.statusCode, 200, answer.body);
    return browser;
  }

  const callerOf = async (browser: TestBrowser) =>
    (await browser.call('GET', '/caller')).json<{ id: string; scopes: string[] }>();

  it('gives newcomers the role of the first rule that fits, and knows them when they come again', async () => {
    const page = await new TestBrowser(world.app).get(logInPage());
    assert.match(page.body, /Sign in with Staff &amp; Co/);
    const ann = await logIn('ann');
    const caller = await callerOf(ann);
    assert.deepEqual(caller.scopes, ['frontdoor.read', 'frontdoor.write']);
    assert.equal((await callerOf(await logIn('ann'))).id, caller.id);
  });

  it('leads on by a page of its own, with a cookie that other sites never send', async () => {
    const browser = new TestBrowser(world.app);
    const back = await through(browser, 'ann', '/console/shares');
    const answer = await browser.get(back, { 'sec-fetch-site': 'cross-site' });
    assert.match(
      answer.body,
      /http-equiv="refresh" content="0; url=\/console\/logged-in\?to=%2Fconsole%2Fshares"/,
    );
    const [ended, session] = [answer.headers['set-cookie'] ?? []].flat();
    assert.match(ended!, /^__Host-frontdoor-console-log-in=; .*Max-Age=0$/);
    assert.match(session!, /^__Host-frontdoor-console=[\w-]{43}; .*SameSite=Strict$/);
  });

  it('lets others wait for a role, whom an administrator sees', async () => {
    const bob = await logIn('bob');
    assert.equal((await bob.call('GET', '/caller')).statusCode, 403);
    assert.match((await bob.get('/console')).body, /not have a role yet/);
    const eve = await logIn('eve');
    assert.match(
      (await eve.get('/console')).body,
      /not have a role yet/,
      'an address that is not verified fits no rule',
    );
    const { body } = await world.api.call('GET', '/people?sort=name');
    const waiting = (body as { content: { id: string; name: string; role?: string }[] }).content.filter(
      ({ role }) => role === undefined,
    );
    assert.deepEqual(waiting.map(({ name }) => name).toSorted(), ['Bob', 'eve']);
    const { id } = waiting.find(({ name }) => name === 'Bob')!;
    assert.equal((await world.api.call('PATCH', `/people/${id}`, { body: { role: 'reader' } })).status, 200);
    assert.deepEqual((await callerOf(bob)).scopes, ['frontdoor.read']);
  });

  it('uses up the invitation to a verified address', async () => {
    const body = { name: 'Daniel', email: 'dan@partners.test', role: 'administrator' };
    assert.equal((await world.api.call('POST', '/invitations', { body })).status, 201);
    const dan = await logIn('dan');
    assert.ok((await callerOf(dan)).scopes.includes('frontdoor.organization'));
    assert.match((await dan.get('/console/account')).body, /Daniel/);
    const { body: left } = await world.api.call('GET', '/invitations?name=Daniel');
    assert.equal((left as { totalElements: number }).totalElements, 0);
  });

  it('gives nobody the role of an operator by an address alone, which providers may claim', async () => {
    const body = { name: 'Hal', email: 'hal@partners.test', role: 'operator' };
    assert.equal((await world.api.call('POST', '/invitations', { body })).status, 201);
    const hal = await logIn('hal');
    assert.equal((await hal.call('GET', '/caller')).statusCode, 403);
    assert.match((await hal.get('/console')).body, /not have a role yet/);
    const { body: left } = await world.api.call('GET', '/invitations?name=Hal');
    assert.equal((left as { totalElements: number }).totalElements, 1);
  });

  it('ends the session that the browser had, though it does not send the cookie on the way back', async () => {
    const browser = await logIn('ann');
    const first = browser.cookie!;
    const back = await through(browser, 'ann');
    browser.cookie = undefined;
    assert.equal((await browser.get(back, { 'sec-fetch-site': 'cross-site' })).statusCode, 200);
    const earlier = new TestBrowser(world.app);
    earlier.cookie = first;
    assert.equal((await earlier.call('GET', '/caller')).statusCode, 401);
    assert.equal((await browser.call('GET', '/caller')).statusCode, 200);
  });

  it('is asked to log a person in again, and a log-in there that is old is not recent here', async () => {
    const path = `/console/log-in/with/${providerId}`;
    const promptOf = async (browser: TestBrowser) =>
      new URL((await browser.get(path)).headers.location!).searchParams.get('prompt');
    assert.equal(await promptOf(new TestBrowser(world.app)), null);
    const dan = await logIn('dan');
    assert.equal(await promptOf(dan), 'login');
    const change = (browser: TestBrowser) =>
      browser.call('POST', '/invitations', { name: 'x', role: 'reader' });
    assert.equal((await change(dan)).statusCode, 201);
    idp.authenticatedAgoS = 1_200;
    try {
      const silent = await logIn('dan');
      assert.equal((await silent.call('GET', '/caller')).statusCode, 200);
      const refused = await change(silent);
      assert.equal(refused.statusCode, 403);
      assert.equal(refused.json<{ error: string }>().error, 'log_in_too_old');
    } finally {
      idp.authenticatedAgoS = 0;
    }
  });

  describe('with an invitation', () => {
    const crossSite = { 'sec-fetch-site': 'cross-site' };
    const peopleNamed = async (name: string) => {
      const { body } = await world.api.call('GET', `/people?name=${name}`);
      return (body as { content: { id: string; email: string | null; role?: string }[] }).content;
    };

    /** Chooses the provider on the page of an invitation, and returns where the provider sends the browser. */
    async function choose(browser: TestBrowser, code: string, user: string): Promise<string> {
      const page = await browser.post('/console/welcome', { code });
      const action = `/console/welcome/with/${providerId}`;
      assert.ok(page.body.includes(`action="${action}"`), page.body);
      const answer = await browser.post(action, { code });
      assert.equal(answer.statusCode, 200);
      const url = /http-equiv="refresh" content="0; url=([^"]*)"/.exec(answer.body)![1]!;
      const back = await goThroughProvider(url.replaceAll('&amp;', '&'), { user });
      return back.pathname + back.search;
    }

    it('gives its role to a new account, once, also to one of many', async () => {
      const code = await world.invite('administrator', 'Kim');
      const browsers = ['flo', 'fox'].map((user) => ({ user, browser: new TestBrowser(world.app) }));
      const backs: string[] = [];
      for (const { user, browser } of browsers) backs.push(await choose(browser, code, user));
      const answers = await Promise.all(
        browsers.map(({ browser }, at) => browser.get(backs[at]!, crossSite)),
      );
      assert.deepEqual(
        answers.map(({ statusCode }) => statusCode).toSorted((a, b) => a - b),
        [200, 403],
      );
      const winner = browsers[answers.findIndex(({ statusCode }) => statusCode === 200)]!.browser;
      assert.ok((await callerOf(winner)).scopes.includes('frontdoor.organization'));
      assert.match((await winner.get('/console/account')).body, /Kim/);
      const loser = browsers.find(({ browser }) => browser !== winner)!;
      assert.equal(loser.browser.cookie, undefined);
      assert.deepEqual(await peopleNamed(loser.user), [], 'nobody waits who came with a used code');
      const again = await winner.post(`/console/welcome/with/${providerId}`, { code });
      assert.equal(again.statusCode, 403);
    });

    it('gives its role to someone who waits, and is kept by those who have one', async () => {
      const waiting = await logIn('gil');
      assert.equal((await waiting.call('GET', '/caller')).statusCode, 403);
      const code = await world.invite('editor', 'Gil');
      const known = new TestBrowser(world.app);
      assert.equal((await known.get(await choose(known, code, 'ann'), crossSite)).statusCode, 200);
      const { scopes } = await callerOf(await logIn('ann'));
      const browser = new TestBrowser(world.app);
      assert.equal((await browser.get(await choose(browser, code, 'gil'), crossSite)).statusCode, 200);
      assert.deepEqual((await callerOf(browser)).scopes, ['frontdoor.read', 'frontdoor.write']);
      assert.deepEqual((await callerOf(known)).scopes, scopes);
    });

    it('is refused with the provider of another organization, and with a code that is not valid', async () => {
      const { organizationId } = world.api.other;
      const code = await world.invite('operator', 'Hue', organizationId);
      const browser = new TestBrowser(world.app);
      const page = await browser.post('/console/welcome', { code });
      assert.ok(!page.body.includes('/welcome/with/'));
      for (const each of [code, '', 'x'.repeat(43)]) {
        const answer = await browser.post(`/console/welcome/with/${providerId}`, { code: each });
        assert.equal(answer.statusCode, 403);
      }
      const own = await world.invite('reader', 'Ian');
      for (const id of ['x', '00000000-0000-4000-8000-000000000000'])
        assert.equal((await browser.post(`/console/welcome/with/${id}`, { code: own })).statusCode, 403);
      const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
      const forged = await browser.post(`/console/welcome/with/${providerId}`, { code: own }, foreign);
      assert.equal(forged.statusCode, 403);
    });
  });

  it('ends a log-in only in the browser that began it, once, and with its own state', async () => {
    const [browser, other] = [new TestBrowser(world.app), new TestBrowser(world.app)];
    const back = await through(browser, 'ann');
    const cross = { 'sec-fetch-site': 'cross-site' };
    await through(other, 'ann');
    for (const [from, url] of [
      [new TestBrowser(world.app), back],
      [other, back],
      [browser, back.replace(/state=[^&]*/, 'state=x')],
      [browser, back.replace(/state=[^&]*&?/, '')],
    ] as const) {
      const answer = await from.get(url, cross);
      assert.equal(answer.statusCode, 403, url);
      assert.equal(from.cookie, undefined);
    }
    assert.equal((await browser.get(back, cross)).statusCode, 403, 'a failure ends the log-in');
    const late = new TestBrowser(world.app);
    const lateBack = await through(late, 'ann');
    world.api.clock.advance(600_000);
    assert.equal((await late.get(lateBack, cross)).statusCode, 403);
    world.api.clock.advance(-600_000);
  });

  it('asks the provider only so often about codes that are made up at one address', async () => {
    const browser = new TestBrowser(world.app);
    const back = await through(browser, 'ann');
    const asked = () => idp.requests.filter((path) => path === '/token').length;
    const before = asked();
    const answers = [];
    for (let at = 0; at < 40; at += 1) {
      const repeated = browser.copy();
      const url = back.replace(/code=[^&]*/, `code=made-up-${at}`);
      answers.push((await repeated.get(url, { 'sec-fetch-site': 'cross-site' })).statusCode);
    }
    assert.ok(answers.every((status) => status === 403));
    assert.equal(asked() - before, 20);
    world.api.clock.advance(60_000);
    assert.equal((await (await logIn('ann')).call('GET', '/caller')).statusCode, 200);
    world.api.clock.advance(-60_000);
  });

  it('records a refusal of the provider', async () => {
    // It writes what is left of its refusals when it is closed.
    const app = await world.openAnother();
    const browser = new TestBrowser(app);
    const back = await through(browser, 'ann');
    const denied = await browser.get(back.replace(/code=[^&]*/, 'error=access_denied'));
    assert.equal(denied.statusCode, 403);
    await app.close();
    const found = await world.api.store.db
      .selectFrom('audit_event')
      .select(['organization_id', 'action', 'reason', 'target_id'])
      .where('result', '=', 'refused')
      .where('reason', '=', 'denied')
      .execute();
    const { organizationId: organization_id } = world.api.first;
    const event = { organization_id, action: 'consoleLogIn', reason: 'denied', target_id: providerId };
    assert.deepEqual(found, [event]);
  });

  it('ends sessions with their provider: disabled, and taken from the console', async () => {
    const ann = await logIn('ann');
    assert.equal((await ann.call('GET', '/caller')).statusCode, 200);
    await world.api.store.db
      .updateTable('auth_provider')
      .set({ enabled: 0 })
      .where('id', '=', providerId)
      .execute();
    assert.equal((await ann.call('GET', '/caller')).statusCode, 401);
    assert.ok(!(await ann.get(logInPage())).body.includes('Sign in with'));
    await world.api.store.db
      .updateTable('auth_provider')
      .set({ enabled: 1 })
      .where('id', '=', providerId)
      .execute();
    const again = await logIn('ann');
    assert.equal((await again.call('GET', '/caller')).statusCode, 200);
    const answer = await world.api.call('DELETE', `/console-log-ins/${logInId}`);
    assert.equal(answer.status, 204);
    assert.equal((await again.call('GET', '/caller')).statusCode, 401);
    const refused = await new TestBrowser(world.app).get(`/console/log-in/with/${providerId}`);
    assert.equal(refused.statusCode, 403);
  });
});
