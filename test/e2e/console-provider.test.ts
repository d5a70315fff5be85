// An invitation to the console that a person accepts with an account of an identity provider, in a real browser.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { browserSkip, startBrowser, type LocalBrowser, type Person } from '../support/browser.ts';
import type { IdentityWorld } from '../support/identity-world.ts';
import { releaseWorld, sharedIdentityWorkers } from '../support/shared-world.ts';

describe('an invitation in a browser without JavaScript', { skip: browserSkip }, () => {
  let world: IdentityWorld;
  let browser: LocalBrowser;
  const people: Person[] = [];
  let logInId: string | undefined;

  before(async () => {
    // One after the other: what the first one started would be left when the second one fails.
    browser = await startBrowser([]);
    world = await sharedIdentityWorkers();
  });
  after(async () => {
    for (const person of people) await person.close();
    await browser?.close();
    // The next file of the process deletes the provider.
    if (logInId !== undefined) await command('console-log-ins', 'delete', logInId);
    await releaseWorld();
  });

  const command = (...args: string[]): Promise<string> =>
    world.parts.run(...args, '--ca', join(world.parts.folder, 'api-ca.pem'));
  const run = async <T>(...args: string[]): Promise<T> => JSON.parse(await command(...args, '--json')) as T;

  it('is accepted with an account of an identity provider', async () => {
    const provider = await world.addProvider('OIDC', 'staff');
    const made = ['console-log-ins', 'create', '--auth-provider', provider];
    const { id, callbackUrl } = await run<{ id: string; callbackUrl: string }>(...made);
    logInId = id;
    const consoleUrl = callbackUrl.replace(/\/callback\/.*$/, '');
    const invited = ['invitations', 'create', '--name', 'Ann Invited', '--role', 'editor'];
    const { link } = await run<{ link: string }>(...invited);
    const ann = await browser.person('console: an invitation, accepted with an identity provider', {
      javaScript: false,
    });
    people.push(ann);
    const { page } = ann;
    await page.goto(`${consoleUrl}/welcome`);
    await page.fill('#code', link.split('#')[1]!);
    await page.click('button:not([type])');
    assert.match((await page.textContent('main'))!, /editor/);
    await page.click('text=Continue with staff');
    await page.waitForURL((url) => url.origin === world.provider.issuer);
    await page.click('#ann');
    await page.waitForURL(consoleUrl);
    await page.goto(`${consoleUrl}/account`);
    assert.match((await page.textContent('main'))!, /Ann Invited/);
    const listed = await run<{ name: string; role: string }[]>('people', 'list');
    assert.deepEqual(
      listed.map(({ name, role }) => [name, role]),
      [['Ann Invited', 'editor']],
    );
  });
});
