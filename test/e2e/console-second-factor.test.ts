// The second factor at the console in a real browser without JavaScript: set up in a session, asked for after the password,
// and demanded by the organization.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { JsonClient } from '#net/http';
import { appCode } from '../support/authenticator-app.ts';
import { browserSkip, startBrowser, type LocalBrowser, type Person } from '../support/browser.ts';
import { openWorld, type World } from '../support/world.ts';

const PASSWORD = 'seven small harbours';

describe('the second factor in a browser without JavaScript', { skip: browserSkip }, () => {
  let world: World;
  let browser: LocalBrowser;
  let client: JsonClient;
  let consoleUrl: string;
  const people: Person[] = [];

  before(async () => {
    browser = await startBrowser([]);
    world = await openWorld();
    consoleUrl = world.up.control.consoleUrl!;
    client = new JsonClient({ origin: world.up.control.apiUrl });
  });
  after(async () => {
    for (const person of people) await person.close();
    await browser?.close();
    await client?.close();
    await world?.close();
  });

  async function somebody(title: string): Promise<Person> {
    const person = await browser.person(title, { javaScript: false });
    people.push(person);
    return person;
  }

  async function asked<T>(method: 'POST' | 'PATCH', path: string, body: unknown): Promise<T> {
    const { accountId, apiToken } = world.credentials;
    const headers = { authorization: `Basic ${accountId}:${apiToken}` };
    const answer = await client.request({ method, path, headers, body });
    assert.ok(answer.status < 300, answer.text);
    return answer.json as T;
  }

  /** Uses an invitation, by typing its code. */
  async function accept({ page }: Person, name: string): Promise<void> {
    const { link } = await asked<{ link: string }>('POST', '/invitations', { name, role: 'reader' });
    await page.goto(`${consoleUrl}/welcome`);
    await page.fill('#code', link.split('#')[1]!);
    await page.click('button:not([type])');
    await page.fill('#email', `${name}@example.com`);
    await page.fill('#password', PASSWORD);
    await page.click('button:not([type])');
  }

  async function logIn({ page }: Person, name: string): Promise<void> {
    await page.goto(`${consoleUrl}/log-in`);
    await page.fill('#name', `${name}@example.com`);
    await page.fill('#password', PASSWORD);
    await page.click('button:not([type])');
  }

  /** Types the secret of the page into an app, and the app's code into the page. Returns secret and recovery codes. */
  async function enroll({ page }: Person): Promise<{ secret: string; recoveryCodes: string[] }> {
    const secret = (await page.textContent('#secret'))!;
    assert.match(secret, /^([A-Z2-7]{4} ){7}[A-Z2-7]{4}$/);
    await page.fill('#code', appCode(secret));
    await page.click('button:not([type])');
    const recoveryCodes = await page.locator('.codes code').allTextContents();
    assert.equal(recoveryCodes.length, 20);
    await page.click('a:not([download])');
    await page.waitForURL(consoleUrl);
    return { secret, recoveryCodes };
  }

  it('is set up by a person, and each later log-in asks for a code or a recovery code', async () => {
    const ann = await somebody('console: a second factor');
    await accept(ann, 'ann');
    await ann.page.goto(`${consoleUrl}/account`);
    await ann.page.click('text=Set up a second factor');
    assert.match((await ann.page.getAttribute('img.qr', 'src'))!, /^data:image\/png;base64,/);
    const { secret, recoveryCodes } = await enroll(ann);
    const later = await somebody('console: a log-in with a second factor');
    await logIn(later, 'ann');
    const { page } = later;
    assert.equal(await page.getAttribute('#code', 'autocomplete'), 'one-time-code');
    await page.goto(consoleUrl);
    assert.equal(new URL(page.url()).pathname, '/console/log-in');
    await logIn(later, 'ann');
    await page.fill('#code', '000000');
    await page.click('button:not([type])');
    assert.match((await page.textContent('[role=alert]'))!, /wrong/);
    // The code of the enrollment was used; the next one is accepted half a minute early.
    await page.fill('#code', appCode(secret, 1));
    await page.click('button:not([type])');
    await page.waitForURL(consoleUrl);
    await page.goto(`${consoleUrl}/account`);
    assert.match((await page.textContent('main'))!, /ann/);
    const without = await somebody('console: a log-in with a recovery code');
    await logIn(without, 'ann');
    await without.page.click('text=Use a recovery code');
    await without.page.fill('#code', recoveryCodes[0]!);
    await without.page.click('button:not([type])');
    await without.page.waitForURL(consoleUrl);
  });

  it('is demanded by an organization: its people set it up before they see anything', async () => {
    const bob = await somebody('console: a second factor that is demanded');
    await accept(bob, 'bob');
    await bob.page.waitForURL(consoleUrl);
    await bob.page.goto(`${consoleUrl}/account`);
    assert.match((await bob.page.textContent('main'))!, /bob/);
    const settings = `/organizations/${world.credentials.organizationId}/settings`;
    await asked('PATCH', settings, { secondFactor: true });
    await bob.page.reload();
    assert.equal(new URL(bob.page.url()).pathname, '/console/log-in');
    await logIn(bob, 'bob');
    await enroll(bob);
    await bob.page.goto(`${consoleUrl}/account`);
    assert.match((await bob.page.textContent('main'))!, /bob/);
    const cleo = await somebody('console: an invitation where a second factor is demanded');
    await accept(cleo, 'cleo');
    assert.equal(new URL(cleo.page.url()).pathname, '/console/log-in/second-factor');
    await enroll(cleo);
  });
});
