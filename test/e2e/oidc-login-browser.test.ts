// The log-in of the quick tier: a person with a real browser at a share that an OpenID provider guards.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { browserSkip, startBrowser, type LocalBrowser, type Person } from '../support/browser.ts';
import type { OriginRequest } from '../support/guarded-origin.ts';
import { CUSTOM_ZONE, type IdentityWorld } from '../support/identity-world.ts';
import { releaseWorld, sharedIdentityWorkers } from '../support/shared-world.ts';
import { SESSION_COOKIE } from '../support/visitor.ts';

describe('a browser', { skip: browserSkip }, () => {
  let world: IdentityWorld;
  let browser: LocalBrowser;
  let oidc: string;
  const people: Person[] = [];

  before(async () => {
    // One after the other: what the first one started would be left when the second one fails.
    browser = await startBrowser([CUSTOM_ZONE]);
    world = await sharedIdentityWorkers();
    oidc = await world.addProvider('OIDC', 'staff');
  });
  after(async () => {
    for (const person of people) await person.close();
    await browser?.close();
    await releaseWorld();
  });

  const urlOf = (host: string, path = '/'): string => `https://${host}:${world.securePort}${path}`;

  it('logs in with an OpenID provider and reaches the page and query that it asked for', async () => {
    const host = await world.share('oidc', [oidc]);
    const ann = await browser.person('OIDC: a form at the provider');
    people.push(ann);
    await ann.page.goto(urlOf(host, '/deep/page?x=1&y=%20z'));
    assert.equal(new URL(ann.page.url()).origin, world.provider.issuer);
    await ann.page.click('#ann');
    await ann.page.waitForURL(urlOf(host, '/deep/page?x=1&y=%20z'));
    const { url, headers } = JSON.parse((await ann.page.textContent('body')) ?? '') as OriginRequest;
    assert.equal(url, '/deep/page?x=1&y=%20z');
    assert.equal(headers['zrok-auth-provider'], 'staff');
    assert.equal(headers['zrok-auth-email'], 'ann@example.com');
    assert.ok(headers['frontdoor-identity']);
    assert.doesNotMatch(headers['cookie'] ?? '', /frontdoor/);
    const cookies = await ann.context.cookies(urlOf(host));
    const cookie = cookies.find(({ name }) => name === SESSION_COOKIE);
    assert.deepEqual(
      [cookie?.domain, cookie?.path, cookie?.secure, cookie?.httpOnly, cookie?.sameSite],
      [host, '/', true, true, 'Lax'],
    );
  });
});
