// People with a real browser at guarded shares: the other types of log-in providers, and what pages may do. The log-in with
// OpenID is a journey of the quick tier: `oidc-login-browser.test.ts`.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { browserSkip, startBrowser, type LocalBrowser, type Person } from '../support/browser.ts';
import { until } from '../support/deadline.ts';
import { CUSTOM_ZONE, type IdentityWorld } from '../support/identity-world.ts';
import { releaseWorld, sharedIdentityWorld } from '../support/shared-world.ts';
import type { OriginRequest } from '../support/guarded-origin.ts';
import { SESSION_COOKIE } from '../support/visitor.ts';

describe('a browser', { skip: browserSkip }, () => {
  let world: IdentityWorld;
  let browser: LocalBrowser;
  let oidc: string;
  let google: string;
  let github: string;
  const people: Person[] = [];

  before(async () => {
    // One after the other: what the first one started would be left when the second one fails.
    browser = await startBrowser([CUSTOM_ZONE]);
    world = await sharedIdentityWorld();
    [oidc, google, github] = await Promise.all([
      world.addProvider('OIDC', 'staff'),
      world.addProvider('GOOGLE', 'google'),
      world.addProvider('GITHUB', 'github'),
    ]);
  });
  after(async () => {
    for (const person of people) await person.close();
    await browser?.close();
    await releaseWorld();
  });

  const person = async (title: string): Promise<Person> => {
    const made = await browser.person(title);
    people.push(made);
    return made;
  };
  const urlOf = (host: string, path = '/'): string => `https://${host}:${world.securePort}${path}`;
  /** The request that the service received, as its page shows it. */
  const shownOn = async (page: Page): Promise<OriginRequest> =>
    JSON.parse((await page.textContent('body')) ?? '') as OriginRequest;
  const sessionOf = async ({ context }: Person, host: string) =>
    (await context.cookies(urlOf(host))).find(({ name }) => name === SESSION_COOKIE);

  it('logs in with Google', async () => {
    const host = await world.share('google', [google]);
    const ann = await person('GOOGLE');
    await ann.page.goto(urlOf(host, '/inbox'));
    await ann.page.click('#ann');
    await ann.page.waitForURL(urlOf(host, '/inbox'));
    const { headers } = await shownOn(ann.page);
    assert.equal(headers['zrok-auth-provider'], 'google');
    assert.equal(headers['zrok-auth-email'], 'ann@example.com');
  });

  it('logs in with GitHub', async () => {
    const host = await world.share('github', [github]);
    const ann = await person('GITHUB');
    await ann.page.goto(urlOf(host, '/repository'));
    await ann.page.waitForURL(urlOf(host, '/repository'));
    const { headers } = await shownOn(ann.page);
    assert.equal(headers['zrok-auth-provider'], 'github');
    assert.match(headers['zrok-auth-email'] ?? '', /^octocat@example\.com$/i);
  });

  it('chooses between two providers, and reaches its page by either', async () => {
    const host = await world.share('either', [oidc, github]);
    const ann = await person('A chooser of two providers');
    await ann.page.goto(urlOf(host, '/choice?x=1'));
    assert.deepEqual(await ann.page.locator('a').allTextContents(), ['staff', 'github']);
    await ann.page.click('text=github');
    await ann.page.waitForURL(urlOf(host, '/choice?x=1'));
    assert.equal((await shownOn(ann.page)).headers['zrok-auth-provider'], 'github');
  });

  it('shows the reason to a person whom the rules refuse, and sends the service nothing', async () => {
    const host = await world.share('example-only', [oidc], { emails: ['*@example.com'] });
    const bob = await person('A person whom an e-mail rule refuses');
    await bob.page.goto(urlOf(host, '/secret'));
    const hits = world.origin.hits(host);
    const refused = bob.page.waitForResponse((response) => response.status() === 403);
    await bob.page.click('#bob');
    await refused;
    await bob.page.waitForURL(urlOf(host, '/secret'));
    assert.match(
      (await bob.page.textContent('body')) ?? '',
      /signed in, but do not have access to this address/,
    );
    assert.equal(world.origin.hits(host), hits);
  });

  it('is refused when the provider has not verified the e-mail address', async () => {
    const host = await world.share('verified', [google]);
    const eve = await person('GOOGLE: an address that is not verified');
    await eve.page.goto(urlOf(host));
    await eve.page.click('#eve');
    await eve.page.waitForURL(/oauth\.share\.localhost|verified/);
    assert.match((await eve.page.textContent('body')) ?? '', /no verified email/);
    assert.equal(await sessionOf(eve, host), undefined);
  });

  it('needs a session of its own at every share', async () => {
    const [first, second] = [await world.share('one', [oidc]), await world.share('two', [oidc])];
    const ann = await person('Two shares, one person');
    await ann.page.goto(urlOf(first));
    await ann.page.click('#ann');
    await ann.page.waitForURL(urlOf(first));
    await ann.page.goto(urlOf(second));
    await ann.page.click('#ann');
    await ann.page.waitForURL(urlOf(second));
    const sessions = [await sessionOf(ann, first), await sessionOf(ann, second)];
    assert.equal(new Set(sessions.map((cookie) => cookie?.value)).size, 2);
    const steps = await ann.steps();
    const callbacks = steps.filter((step) => step.includes('https://oauth.share.localhost'));
    assert.equal(callbacks.length, 2, steps.join('\n'));
  });

  it('gets 401 and no redirect for a script’s request or a posted form without a session', async () => {
    const host = await world.share('scripts', [oidc], { publicPaths: ['/public'] });
    const { page } = await person('A page of a public path');
    await page.goto(urlOf(host, '/public'));
    const answers = await page.evaluate(async () => {
      const seen: (number | boolean)[][] = [];
      for (const method of ['GET', 'POST']) {
        const answer = await fetch('/private', { method, headers: { accept: 'text/html' } });
        seen.push([answer.status, answer.redirected]);
      }
      return seen;
    });
    assert.deepEqual(answers, [
      [401, false],
      [401, false],
    ]);
    const posted = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.setContent('<form method="post" action="/private"><button id="send">send</button></form>');
    await page.click('#send');
    assert.equal((await posted).status(), 401);
  });

  it('keeps a WebSocket for as long as its session lasts: the log-out cuts it and asks to log in again', async () => {
    const host = await world.share('sockets', [oidc]);
    const ann = await person('Log-out');
    await ann.page.goto(urlOf(host));
    await ann.page.click('#ann');
    await ann.page.waitForURL(urlOf(host));
    const echoed = await ann.page.evaluate(async () => {
      const socket = new WebSocket('/socket');
      const kept = globalThis as unknown as { wasCut: boolean };
      kept.wasCut = false;
      socket.onclose = () => (kept.wasCut = true);
      await new Promise((resolve, reject) => {
        socket.onopen = resolve;
        socket.onerror = reject;
      });
      return new Promise((resolve) => {
        socket.onmessage = ({ data }) => resolve(data);
        socket.send('hello');
      });
    });
    assert.equal(echoed, 'hello');
    const other = await ann.context.newPage();
    await other.goto(urlOf(host, '/.frontdoor/logout'));
    assert.match((await other.textContent('body')) ?? '', /You are signed out/);
    await until(
      'the socket is cut',
      () => ann.page.evaluate(() => (globalThis as unknown as { wasCut: boolean }).wasCut),
      Boolean,
    );
    assert.equal(await sessionOf(ann, host), undefined);
    assert.equal(await ann.page.evaluate(async () => (await fetch('/')).status), 401);
  });

  it('keeps pages of other shares from acting as the person: no socket, no log-out, no readable answer', async () => {
    const [host, other] = [await world.share('mine', [oidc]), await world.share('hostile', [])];
    const ann = await person('A page of another share');
    await ann.page.goto(urlOf(host));
    await ann.page.click('#ann');
    await ann.page.waitForURL(urlOf(host));
    const { page } = ann;
    await page.goto(urlOf(other));
    const hits = world.origin.hits(host);
    const tried = await page.evaluate(async (target) => {
      const socket = new WebSocket(`${target.replace('https', 'wss')}socket`);
      const opened = await new Promise((resolve) => {
        socket.onopen = () => resolve(true);
        socket.onerror = () => resolve(false);
      });
      const read = await fetch(`${target}page`, { credentials: 'include' }).then(
        () => true,
        () => false,
      );
      await fetch(`${target}.frontdoor/logout`, { method: 'POST', mode: 'no-cors', credentials: 'include' });
      return { opened, read };
    }, urlOf(host));
    assert.deepEqual(tried, { opened: false, read: false });
    // What it cannot read was asked for all the same, as between all origins; the socket was not.
    assert.equal(world.origin.hits(host), hits + 1);
    assert.equal(world.origin.last(host).url, '/page');
    const refused = page.waitForResponse((response) => response.url().endsWith('/.frontdoor/logout'));
    await page.setContent(
      `<form method="post" action="${urlOf(host, '/.frontdoor/logout')}"><button id="out">out</button></form>`,
    );
    await page.click('#out');
    assert.equal((await refused).status(), 403);
    await page.goto(urlOf(host, '/still'));
    assert.equal((await shownOn(page)).url, '/still');
  });

  it('is sent from plain HTTP to TLS to log in, with its page and query', async () => {
    const host = await world.share('plain', [oidc]);
    const ann = await person('From plain HTTP');
    await ann.page.goto(`http://${host}:${world.plainPort}/page?x=1`);
    await ann.page.click('#ann');
    await ann.page.waitForURL(urlOf(host, '/page?x=1'));
    const [first] = await ann.steps();
    assert.equal(first, `302 GET http://${host}:${world.plainPort}/page?x=…`);
  });

  it('logs in at a custom frontend with the provider of that', async () => {
    await world.share('everywhere', []);
    const frontends = await world.call<{ id: string }[]>('GET', '/frontends');
    const made = await world.call<{ id: string }>('POST', '/custom-frontends', {
      hostname: CUSTOM_ZONE,
      frontendId: frontends[0]!.id,
      authProviderIds: [github],
    });
    await world.parts.grantHostname(made.id);
    const host = `everywhere.${CUSTOM_ZONE}`;
    const nobody = world.visitor();
    await until(
      'the custom frontend is served',
      async () => (await nobody.ask(host, '/', { navigates: false })).status,
      (status) => status === 401,
    );
    const ann = await person('A custom frontend');
    await ann.page.goto(urlOf(host, '/custom'));
    await ann.page.waitForURL(urlOf(host, '/custom'));
    assert.equal((await shownOn(ann.page)).headers['zrok-auth-provider'], 'github');
    const steps = await ann.steps();
    assert.ok(
      steps.some((step) =>
        step.startsWith(`302 GET https://oauth.${CUSTOM_ZONE}:${world.securePort}/${github}/auth/callback`),
      ),
      steps.join('\n'),
    );
  });
});
