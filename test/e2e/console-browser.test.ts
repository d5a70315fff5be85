// People at the console with a real browser, over plain HTTP on this machine: the link of the first start, log-in, log-out,
// pages of another site, and new passwords.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { appCode } from '../support/authenticator-app.ts';
import { browserSkip, startBrowser, type LocalBrowser, type Person } from '../support/browser.ts';
import { callCommand } from '../support/command-line.ts';
import { buildConsoleNow } from '../support/built-console.ts';
import { openWorld, type World } from '../support/world.ts';

const PASSWORD = 'seven small harbours';
const COOKIE = '__Host-frontdoor-console';

describe('the console in a browser', { skip: browserSkip }, () => {
  let world: World;
  let browser: LocalBrowser;
  let foreign: Server;
  const people: Person[] = [];

  before(async () => {
    await buildConsoleNow();
    browser = await startBrowser([]);
    world = await openWorld();
    foreign = createServer((_request, response) => {
      const action = `${world.up.control.consoleUrl}/log-out`;
      response.setHeader('content-type', 'text/html');
      response.end(`<form method="post" action="${action}"><button>win</button></form>`);
    });
    await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    for (const person of people) await person.close();
    await browser?.close();
    foreign?.close();
    await world?.close();
  });

  async function somebody(title: string, options?: { readonly javaScript: boolean }): Promise<Person> {
    const person = await browser.person(title, options);
    people.push(person);
    return person;
  }

  it('takes the first person by the printed link, without the code in an address, and once', async () => {
    const { consoleLink } = world.up.control;
    const consoleUrl = world.up.control.consoleUrl!;
    const { page, context } = await somebody('console: the first person');
    const requested: string[] = [];
    context.on('request', (request) => requested.push(request.url()));
    await page.goto(consoleLink!);
    await page.fill('#email', 'ann@example.com');
    await page.fill('#name', 'Ann');
    await page.fill('#password', PASSWORD);
    await page.click('button:not([type])');
    await page.waitForURL(consoleUrl);
    await page.waitForSelector('#root > :not(style, #coming)');
    await page.goto(`${consoleUrl}/account`);
    assert.match((await page.textContent('main')) ?? '', /Ann/);
    const code = consoleLink!.split('#')[1]!;
    assert.ok(!requested.some((url) => url.split('#')[0]!.includes(code)));
    const [cookie] = (await context.cookies()).filter(({ name }) => name === COOKIE);
    assert.deepEqual(
      [cookie?.path, cookie?.secure, cookie?.httpOnly, cookie?.sameSite],
      ['/', true, true, 'Strict'],
    );
    const second = await somebody('console: the link again');
    await second.page.goto(consoleLink!);
    await second.page.waitForSelector('.wrong');
    assert.match((await second.page.textContent('.wrong')) ?? '', /already been used/);
  });

  it('logs in and out by password, and keeps the session for the next tab', async () => {
    const consoleUrl = world.up.control.consoleUrl!;
    const { page, context } = await somebody('console: log-in');
    await page.goto(consoleUrl);
    await page.fill('#name', 'ann@example.com');
    await page.fill('#password', 'not the password');
    await page.click('button:not([type])');
    assert.match((await page.textContent('[role=alert]')) ?? '', /wrong/);
    assert.equal(await page.inputValue('#name'), 'ann@example.com');
    await page.fill('#password', PASSWORD);
    await page.click('button:not([type])');
    await page.waitForURL(consoleUrl);
    const tab = await context.newPage();
    await tab.goto(`${consoleUrl}/account`);
    assert.match((await tab.textContent('main')) ?? '', /Sign out/);
    await page.goto(`${consoleUrl}/account`);
    await page.click('text=Sign out');
    await page.waitForURL(`${consoleUrl}/log-in`);
    await tab.reload();
    assert.equal(new URL(tab.url()).pathname, '/console/log-in');
  });

  it('shows a typed password by a button, sends it hidden, and copies recovery codes', async () => {
    const consoleUrl = world.up.control.consoleUrl!;
    const { page } = await somebody('console: the script of the pages');
    await page.goto(`${consoleUrl}/log-in`);
    await page.fill('#name', 'ann@example.com');
    await page.fill('#password', PASSWORD);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    assert.equal(await page.getAttribute('#password', 'type'), 'text');
    assert.equal(await page.textContent('button:focus'), 'Hide password');
    await page.evaluate(
      `document.forms[0].addEventListener('submit', () => sessionStorage.sent = document.getElementById('password').type)`,
    );
    await page.focus('#password');
    await page.keyboard.press('Enter');
    await page.waitForURL(consoleUrl);
    assert.equal(await page.evaluate('sessionStorage.sent'), 'password');
    await page.goto(`${consoleUrl}/account`);
    await page.click('text=Set up a second factor');
    await page.fill('#code', appCode((await page.textContent('#secret'))!));
    await page.click('button:not([type])');
    const codes = await page.locator('.codes code').allTextContents();
    await page.evaluate('navigator.clipboard.writeText = async (text) => { globalThis.copied = text; }');
    await page.getByRole('button', { name: 'Copy' }).press('Enter');
    await page.getByText('Copied').waitFor();
    assert.equal(await page.evaluate('globalThis.copied'), `${codes.join('\n')}\n`);
    await callCommand(['people', 'second-factor', 'remove', 'Ann'], apiEnvironment(world));
  });

  it('is not logged out by a page of another site, and shows nothing in a frame', async () => {
    const consoleUrl = world.up.control.consoleUrl!;
    const { page, context } = await somebody('console: another site');
    await page.goto(`${consoleUrl}/log-in`);
    await page.fill('#name', 'ann@example.com');
    await page.fill('#password', PASSWORD);
    await page.click('button:not([type])');
    await page.waitForURL(consoleUrl);
    const { port } = foreign.address() as AddressInfo;
    const evil = await context.newPage();
    await evil.goto(`http://localhost:${port}/`);
    await evil.click('button:not([type])');
    await evil.waitForURL(`${consoleUrl}/log-out`);
    assert.match((await evil.textContent('main')) ?? '', /not sent by a page of the console/);
    await page.goto(`${consoleUrl}/account`);
    assert.match((await page.textContent('main')) ?? '', /Sign out/);
    await evil.goto(`http://localhost:${port}/`);
    await evil.setContent(`<iframe src="${consoleUrl}"></iframe>`);
    const frame = evil.frames().find((each) => each !== evil.mainFrame());
    assert.equal(await frame?.$('main'), null);
  });

  it('takes a new password by a link of an administrator, and by the former one, without JavaScript', async () => {
    const consoleUrl = world.up.control.consoleUrl!;
    const [email, other] = ['ann@example.com', 'eight large harbours'];
    const create = ['people', 'password-link', 'create', 'Ann', '--json'];
    const made = await callCommand(create, apiEnvironment(world));
    const { link } = JSON.parse(made) as { link: string };
    const { page, context } = await somebody('console: a forgotten password');
    const requested: string[] = [];
    context.on('request', (request) => requested.push(request.url()));
    await page.goto(link);
    await page.waitForSelector('#password');
    assert.equal(await page.inputValue('#email'), email);
    await page.fill('#password', other);
    await page.click('button:not([type])');
    await page.waitForURL(consoleUrl);
    assert.ok(!requested.some((each) => each.split('#')[0]!.includes(link.split('#')[1]!)));
    const plain = await somebody('console: a password that is changed', { javaScript: false });
    await plain.page.goto(`${consoleUrl}/password`);
    await plain.page.fill('#name', email);
    await plain.page.fill('#password', other);
    await plain.page.click('button:not([type])');
    await plain.page.waitForURL(`${consoleUrl}/password`);
    assert.equal(await plain.page.inputValue('#email'), email);
    await plain.page.fill('#current', 'not the password');
    await plain.page.fill('#password', PASSWORD);
    await plain.page.click('button:not([type])');
    assert.match((await plain.page.textContent('[role=alert]')) ?? '', /wrong/);
    await plain.page.fill('#current', other);
    await plain.page.fill('#password', PASSWORD);
    await plain.page.click('button:not([type])');
    await plain.page.waitForURL(`${consoleUrl}/account`);
    assert.match((await plain.page.textContent('main')) ?? '', /Ann/);
    await page.goto(`${consoleUrl}/account`);
    assert.equal(new URL(page.url()).pathname, '/console/log-in');
  });
});

/** For commands that call the Management API. */
function apiEnvironment({ up, credentials: { accountId, apiToken } }: World) {
  return {
    FRONTDOOR_API_URL: up.control.apiUrl,
    FRONTDOOR_ACCOUNT_ID: accountId,
    FRONTDOOR_API_TOKEN: apiToken,
  };
}
