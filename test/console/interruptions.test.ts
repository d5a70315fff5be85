// What interrupts someone at the console: a session that ends while a form is filled, another tab, another version of the program,
// and a control plane that is killed while a form is sent. Nothing typed is lost, and nothing is done twice.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import type { FirstStart } from '#control';
import { browserSkip, startBrowser, type LocalBrowser } from '../support/browser.ts';
import { buildConsoleNow } from '../support/built-console.ts';
import { startConsoleBrowser, type StartedConsole } from '../support/console-browser.ts';
import { PartProcess } from '../support/part-process.ts';
import { entryOf, rowMenu } from '../support/row-menu.ts';

const PASSWORD = 'plum giraffe engine 47';

describe('an interrupted person at the console', { skip: browserSkip }, () => {
  let consoles: StartedConsole;
  before(async () => {
    consoles = await startConsoleBrowser();
  });
  after(() => consoles?.close());

  const frontdoors = async (name: string): Promise<number> => {
    const { organizationId, accountId, apiToken } = consoles.world.credentials;
    const { baseUrl } = consoles.world.up.control;
    return countOf(`${baseUrl}/organizations/${organizationId}/frontdoors?name=${name}`, accountId, apiToken);
  };
  const endSessions = async (page: Page): Promise<void> => {
    await page.context().clearCookies();
  };

  it('logs in again in place when the session has ended, and the form is sent with what was typed', async (test) => {
    const { page, open, email, allow } = await consoles.person(test, 'administrator');
    allow(/status of 401/);
    await open('/settings/frontdoors');
    await page.getByRole('button', { name: 'New frontdoor' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('typed');
    await endSessions(page);
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const ended = page.getByRole('dialog', { name: 'Your session has ended' });
    await ended.getByText('Your input on this page is kept.').waitFor();
    assert.equal(await frontdoors('typed'), 0);
    const opening = page.context().waitForEvent('page');
    await ended.getByRole('button', { name: 'Sign in' }).click();
    await logIn(await opening, email);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    assert.equal(await frontdoors('typed'), 1);
  });

  it('keeps what was typed when nobody logs in, and sends it later', async (test) => {
    const { page, open, email, allow } = await consoles.person(test, 'administrator');
    allow(/status of 401/);
    await open('/settings/frontdoors');
    await page.getByRole('button', { name: 'New frontdoor' }).click();
    const name = page.getByRole('textbox', { name: 'Name' });
    await name.fill('later');
    await endSessions(page);
    const create = page.getByRole('button', { name: 'Create', exact: true });
    await create.click();
    const ended = page.getByRole('dialog', { name: 'Your session has ended' });
    await ended.getByRole('button', { name: 'Cancel' }).click();
    await ended.waitFor({ state: 'detached' });
    assert.equal(await name.inputValue(), 'later');
    const tab = await page.context().newPage();
    await tab.goto(`${consoles.consoleUrl}/log-in`);
    await logIn(tab, email);
    await create.click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    assert.equal(await frontdoors('later'), 1);
  });

  it('has two tabs: a change in one is in the other, and both follow one log-in', async (test) => {
    const { page, open, email, allow } = await consoles.person(test, 'administrator');
    allow(/status of 401/);
    await open('/settings/frontdoors');
    const tab = await page.context().newPage();
    await tab.goto(`${consoles.consoleUrl}/settings/frontdoors`);
    await (await entryOf(tab, 'Rename')).click();
    await tab.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('of the other tab');
    await tab.getByRole('dialog').getByRole('button', { name: 'Rename', exact: true }).click();
    await rowMenu(page, 'of the other tab').waitFor();
    await endSessions(page);
    // One of them finds out, and both ask for the log-in; one log-in is enough.
    await page.keyboard.press('g');
    await page.keyboard.press('s');
    for (const each of [page, tab])
      await each.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    const opening = page.context().waitForEvent('page');
    await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
    await logIn(await opening, email);
    for (const each of [page, tab]) await each.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1, name: 'Shares' }).waitFor();
  });

  it('gets the program of today at the next page, once, and loses nothing typed before', async (test) => {
    const { page, open } = await consoles.person(test, 'administrator');
    let loads = 0;
    page.on('load', () => (loads += 1));
    // As a tab that was opened before the control plane was updated: its document names an earlier build.
    await page.addInitScript(() => {
      const { document, sessionStorage } = globalThis as unknown as {
        document: {
          addEventListener(type: string, act: () => void): void;
          querySelector(text: string): { content: string };
        };
        sessionStorage: { getItem(key: string): string | null; setItem(key: string, value: string): void };
      };
      if (sessionStorage.getItem('yesterday') !== null) return;
      sessionStorage.setItem('yesterday', 'shown');
      document.addEventListener('readystatechange', () => {
        document.querySelector('meta[name="frontdoor-console-build"]').content = 'yesterday';
      });
    });
    await open('/settings/frontdoors');
    await page.getByText('A new version of the console is available.').waitFor();
    await page.getByRole('button', { name: 'New frontdoor' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('kept');
    assert.equal(loads, 1);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('link', { name: 'Activity log' }).click();
    await page.getByText('A new version of the console is available.').waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1, name: 'Activity log' }).waitFor();
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Frontdoors' }).waitFor();
    assert.equal(loads, 2);
  });

  it('sees the frame of the page before the first answer', async (test) => {
    const { page, open } = await consoles.person(test, 'reader');
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    await page.route('**/console/api/caller', async (route) => {
      await answered;
      await route.continue();
    });
    await open('/activity');
    await page.locator('header').getByText('Frontdoor').waitFor();
    // As a text it would be evaluated again and again, which the policy of the page forbids.
    await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length === 1);
    answer();
    await page.getByRole('heading', { level: 1, name: 'Activity log' }).waitFor();
  });

  it('sees a frontdoor that is made in another tab in the list of the first', async (test) => {
    const { page, open } = await consoles.person(test, 'administrator');
    await open('/settings/frontdoors');
    await rowMenu(page).waitFor();
    const tab = await page.context().newPage();
    await tab.goto(`${consoles.consoleUrl}/settings/frontdoors`);
    await tab.getByRole('button', { name: 'New frontdoor' }).click();
    await tab.getByRole('textbox', { name: 'Name' }).fill('of a second tab');
    await tab.getByRole('button', { name: 'Create', exact: true }).click();
    await rowMenu(page, 'of a second tab').waitFor();
    await page
      .getByRole('combobox', { name: 'Frontdoor' })
      .getByRole('option', { name: 'of a second tab' })
      .waitFor({ state: 'attached' });
  });

  /** The page of frontdoors after an update: the files that this tab has not loaded yet are gone. */
  async function openBeforeUpdate(test: TestContext): Promise<{ page: Page; files: { isAway: boolean } }> {
    const { page, open, allow } = await consoles.person(test, 'administrator');
    allow(/status of 404|Failed to fetch dynamically imported module/);
    const files = await withMissingFiles(page);
    await open('/settings/frontdoors');
    // Its file is loaded after the page, and would make the tab load itself again.
    await page.locator('header button[aria-label*="attention"]:enabled').waitFor();
    files.isAway = true;
    return { page, files };
  }

  it('loads itself again once when a file of its build is gone, at the address of the page', async (test) => {
    const { page, files } = await openBeforeUpdate(test);
    let loads = 0;
    // The document of today has its files.
    page.on('request', (request) => {
      if (!request.isNavigationRequest()) return;
      loads += 1;
      files.isAway = false;
    });
    await page.getByRole('link', { name: 'Activity log' }).click();
    await page.getByRole('heading', { level: 1, name: 'Activity log' }).waitFor();
    assert.equal(new URL(page.url()).pathname, '/console/activity');
    assert.equal(loads, 1);
  });

  it('sees which page failed when a file stays away after that, and no endless loads', async (test) => {
    const { page, files } = await openBeforeUpdate(test);
    let loads = 0;
    page.on('load', () => (loads += 1));
    await page.getByRole('link', { name: 'Activity log' }).click();
    await page.getByRole('heading', { level: 1, name: 'Something went wrong on this page' }).waitFor();
    await page.getByRole('button', { name: 'Reload' }).waitFor();
    assert.equal(loads, 1);
    assert.equal(new URL(page.url()).pathname, '/console/activity');
    files.isAway = false;
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { level: 1, name: 'Activity log' }).waitFor();
  });
});

/** Milliseconds from the click to the kill. */
const KILLED_AFTER_MS = [0, 5, 15, 40] as const;

interface Ready extends FirstStart {
  readonly apiUrl: string;
  readonly consoleUrl: string;
  readonly consoleLink?: string;
}

describe('a control plane that is killed while a form of the console is sent', { skip: browserSkip }, () => {
  let folder: string;
  let control: PartProcess<Ready>;
  let browser: LocalBrowser;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'frontdoor-console-forms-'));
    control = new PartProcess<Ready>({
      name: 'control',
      readyFile: join(folder, 'ready.json'),
      args: (last) => [
        'control',
        '--data-dir',
        folder,
        '--ready-file',
        join(folder, 'ready.json'),
        '--api-port',
        last === undefined ? '0' : new URL(last.apiUrl).port,
        '--edge-api-port',
        '0',
        '--ctrl-port',
        '0',
        '--log-level',
        'warn',
      ],
    });
    await buildConsoleNow();
    browser = await startBrowser([]);
  });
  after(async () => {
    await browser?.close();
    await control?.kill();
    rmSync(folder, { recursive: true });
  });

  it('makes it once when the form is sent again, with what was typed', async (test) => {
    const first = await control.start();
    const { page } = await browser.person('someone who sends forms');
    await page.goto(first.consoleLink!);
    await page.fill('#email', 'ann@example.com');
    await page.fill('#name', 'Ann');
    await page.fill('#password', PASSWORD);
    await page.click('button:not([type])');
    await page.waitForSelector('#root > :not(style, #coming)');
    let lost = 0;
    for (const [at, afterMs] of KILLED_AFTER_MS.entries()) {
      const typed = `round ${at}`;
      await page.goto(`${first.consoleUrl}/settings/frontdoors`);
      await page.getByRole('button', { name: 'New frontdoor' }).click();
      const name = page.getByRole('textbox', { name: 'Name' });
      await name.fill(typed);
      const create = page.getByRole('button', { name: 'Create', exact: true });
      const sent = answerOf(page);
      await create.click();
      await pause(afterMs);
      await control.kill();
      const isLost = !(await sent);
      await control.start();
      if (isLost) {
        lost += 1;
        await page.getByText('The control plane cannot be reached.').first().waitFor();
        assert.equal(await name.inputValue(), typed);
        await create.click();
        await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      }
      const path = `/organizations/${first.organizationId}/frontdoors?name=${encodeURIComponent(typed)}`;
      assert.equal(await countOf(`${first.apiUrl}${path}`, first.accountId, first.apiToken), 1, typed);
    }
    test.diagnostic(`${KILLED_AFTER_MS.length} of ${KILLED_AFTER_MS.length} once; ${lost} answers were lost`);
    assert.ok(lost > 0, 'some answers were lost');
  });
});

/** Answers 404 for files that the page has not loaded before `isAway` is set. */
async function withMissingFiles(page: Page): Promise<{ isAway: boolean }> {
  const [known, files] = [new Set<string>(), { isAway: false }];
  await page.route('**/console/assets/*.js', (route) => {
    const url = route.request().url();
    if (files.isAway && !known.has(url)) return route.fulfill({ status: 404, body: '' });
    known.add(url);
    return route.continue();
  });
  return files;
}

async function countOf(url: string, accountId: string, apiToken: string): Promise<number> {
  const response = await fetch(url, {
    headers: { authorization: `Basic ${btoa(`${accountId}:${apiToken}`)}` },
  });
  const { totalElements } = (await response.json()) as { readonly totalElements: number };
  return totalElements;
}

/** Whether the next change of the page is answered. */
function answerOf(page: Page): Promise<boolean> {
  return new Promise((resolve) => {
    page.on('requestfinished', (request) => request.method() === 'POST' && resolve(true));
    page.on('requestfailed', (request) => request.method() === 'POST' && resolve(false));
  });
}

async function logIn(page: Page, email: string): Promise<void> {
  await page.fill('#name', email);
  await page.fill('#password', PASSWORD);
  const answered = page.waitForResponse((response) => response.request().method() === 'POST');
  await page.click('button:not([type])');
  await answered;
}
