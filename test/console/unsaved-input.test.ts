// What someone has typed is asked for before it is lost: by a link, by the browser's way back, by a log-out. A page whose file cannot
// be loaded is an error inside the frame. And keys right after Ctrl-K are in the box of the search.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { browserSkip } from '../support/browser.ts';
import { releaseWorld, sharedConsole, type ConsoleBrowser } from '../support/console-browser.ts';
import { checkLooks } from '../support/console-look.ts';
import { until } from '../support/deadline.ts';

const QUESTION = { name: 'Leave this page?' };

describe('a person who types at the console', { skip: browserSkip }, () => {
  let consoles: ConsoleBrowser;
  let base: string;
  before(async () => {
    consoles = await sharedConsole();
    base = `/frontdoors/${consoles.world.credentials.frontdoorId}`;
    await (await consoles.world.startAgent('typist')).share('http://127.0.0.1:9', { name: 'typed' });
  });
  after(releaseWorld);

  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name }).waitFor();

  it('is asked before unsaved input is left, and loses it on purpose alone', async (test) => {
    const { page, open } = await consoles.person(test, 'administrator');
    const question = page.getByRole('dialog', QUESTION);
    for (const [path, field, name] of [
      [`${base}/shares/typed/settings`, 'Service address', 'typed'],
      [`${base}/domains/new`, 'Domain', 'Add custom domain'],
    ] as const) {
      await open(`${base}/agents`);
      await heading(page, 'Agents');
      await page.evaluate(
        `globalThis.__TSR_ROUTER__.navigate({ href: '/console' + ${JSON.stringify(path)} })`,
      );
      const box = page.getByRole('textbox', { name: field }).first();
      await box.fill('http://127.0.0.1:7');
      await page.getByRole('link', { name: 'Failures', exact: true }).first().click();
      await question.waitFor();
      await question.getByRole('button', { name: 'Cancel' }).click();
      assert.equal(await box.inputValue(), 'http://127.0.0.1:7', name);
      await page.goBack();
      await question.getByRole('button', { name: 'Cancel' }).click();
      assert.equal(await box.inputValue(), 'http://127.0.0.1:7', name);
      await page.locator('header button').last().click();
      await page.getByRole('menuitem', { name: 'Sign out' }).click();
      if (field === 'Domain') await checkLooks(page, 'leave-question');
      await question.getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('link', { name: 'Failures', exact: true }).first().click();
      await question.getByRole('button', { name: 'Leave without saving' }).click();
      await heading(page, 'Failures');
    }
  });

  it('is not asked when it is saved, given up, or a question', async (test) => {
    const { page, open } = await consoles.person(test, 'administrator');
    await open(`${base}/shares/typed/settings`);
    await page.getByRole('textbox', { name: 'Service address' }).fill('http://127.0.0.1:7');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText(/^Saved\./).waitFor();
    await page.getByRole('link', { name: 'Access', exact: true }).click();
    await page.getByRole('textbox', { name: 'Client address' }).fill('192.0.2.1');
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await heading(page, 'Agents');
    await open('/settings/frontdoors');
    await page.getByRole('button', { name: 'New frontdoor' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('given up');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'New frontdoor' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('made');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await heading(page, 'Overview');
  });

  it('stays in the program when a page cannot be loaded, and opens it once that is possible', async (test) => {
    const { page, open, allow } = await consoles.person(test, 'administrator');
    allow(/Failed to|ERR_FAILED|ERR_INTERNET|^ApiError/);
    await open(`${base}/agents`);
    await heading(page, 'Agents');
    const down = { isDown: true };
    await page.route('**/console/**', (route) => (down.isDown ? route.abort() : route.fallback()));
    await page.getByRole('link', { name: 'Custom domains', exact: true }).click();
    const main = page.locator('main');
    await heading(page, 'Something went wrong on this page');
    await main.getByText('The control plane cannot be reached.').waitFor();
    await page.keyboard.press('Control+k');
    const dialog = page.locator('.fd-not-loaded');
    await dialog.getByText('The control plane cannot be reached.').waitFor();
    down.isDown = false;
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('combobox', { name: /page or command/ }).waitFor();
    await page.keyboard.press('Escape');
    await main.getByRole('button', { name: 'Try again' }).click();
    await heading(page, 'Custom domains');
  });

  it('opens pages that were not opened before while the control plane is away', async (test) => {
    const { page, open, allow } = await consoles.person(test, 'administrator');
    allow(/Failed to|ERR_FAILED|ERR_INTERNET|^ApiError/);
    const loaded = new Set<string>();
    page.on('requestfinished', (request) => loaded.add(request.url()));
    await open(`${base}/agents`);
    await heading(page, 'Agents');
    const isLoaded = (name: string) => [...loaded].some((url) => url.includes(`/assets/${name}-`));
    await until(
      'the files',
      () => ['search-dialog', 'log-in-again-dialog', 'settings-frame', 'frontdoors-page'].every(isLoaded),
      Boolean,
    );
    await page.context().setOffline(true);
    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await page.getByRole('main').getByText('The control plane cannot be reached.').first().waitFor();
    assert.equal(await page.getByText('Something went wrong on this page').count(), 0);
  });

  it('has the keys in the box that follow Ctrl-K at once', async (test) => {
    const { page, open } = await consoles.person(test, 'administrator');
    await open(`${base}/agents`);
    await heading(page, 'Agents');
    await page.route('**/assets/search-dialog-*', async (route) => {
      await page.waitForTimeout(300);
      await route.continue();
    });
    await page.keyboard.press('Control+k');
    await page.keyboard.type('gs typed?');
    const box = page.getByRole('combobox', { name: /page or command/ });
    await box.waitFor();
    await until(
      'the text',
      () => box.inputValue(),
      (text) => text === 'gs typed?',
    );
    await until(
      'the focus',
      () => page.evaluate(`document.activeElement.getAttribute('role')`),
      (role) => role === 'combobox',
    );
    await page.keyboard.type('!');
    assert.equal(await box.inputValue(), 'gs typed?!');
    assert.match(page.url(), /\/agents$/);
  });
});
