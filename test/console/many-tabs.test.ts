// Many tabs of the console in one browser: they share one stream of changes and one session. What reads the stream may be closed or stop.
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { BrowserContext, Page } from 'playwright-core';
import { browserSkip } from '../support/browser.ts';
import { releaseWorld, sharedConsole, type ConsoleBrowser } from '../support/console-browser.ts';
import { until } from '../support/deadline.ts';

/** A browser has six connections to a host. */
const TABS = 30;
const ENDED = { name: 'Your session has ended' };
const SAID_WITHIN_MS = 5_000;

describe('many tabs of the console', { skip: browserSkip }, () => {
  let consoles: ConsoleBrowser;
  let base: string;
  let agent: Awaited<ReturnType<ConsoleBrowser['world']['startAgent']>>;
  before(async () => {
    consoles = await sharedConsole();
    base = `/frontdoors/${consoles.world.credentials.frontdoorId}`;
    agent = await consoles.world.startAgent('tabs');
  });
  after(releaseWorld);

  /** The open streams of a browser, by the tab that reads them. */
  const streamsOf = (context: BrowserContext): (() => readonly Page[]) => {
    const open = new Map<object, Page>();
    context.on('request', (request) => {
      if (!request.url().includes('/console/api/changes')) return;
      open.set(request, request.frame().page());
    });
    context.on('requestfinished', (request) => void open.delete(request));
    context.on('requestfailed', (request) => void open.delete(request));
    return () => [...open.values()].filter((page) => !page.isClosed());
  };
  const openTabs = async (context: BrowserContext, count: number, path: string): Promise<readonly Page[]> => {
    const tabs: Page[] = [];
    for (let at = 0; at < count; at += 1) {
      const tab = await context.newPage();
      await tab.goto(`${consoles.consoleUrl}${path}`);
      await tab.getByRole('heading', { level: 1 }).waitFor();
      tabs.push(tab);
    }
    return tabs;
  };
  const share = (name: string) => agent.share('http://127.0.0.1:9', { name });
  const shows = (tab: Page, name: string) => tab.getByRole('link', { name, exact: true }).first().waitFor();
  const person = async (test: TestContext) => {
    const opened = await consoles.person(test, 'administrator');
    opened.allow(/status of 401/);
    const context = opened.page.context();
    const streams = streamsOf(context);
    await opened.open(`${base}/shares`);
    await until(
      'the stream',
      () => streams().length,
      (size) => size === 1,
    );
    return { ...opened, context, streams };
  };

  it(`${TABS} of them share one stream, and each sees each change`, async (test) => {
    const { page, context, streams } = await person(test);
    const tabs = [page, ...(await openTabs(context, TABS - 1, `${base}/shares`))];
    await share('for-all-tabs');
    for (const tab of tabs) await shows(tab, 'for-all-tabs');
    assert.equal(streams().length, 1);
  });

  it('shows what changed after the list was read, before the stream began', async (test) => {
    const { page, open } = await consoles.person(test, 'administrator');
    const data = { placement: 'header', name: 'x-key', keys: [{ name: 'ci' }] };
    const provider = (name: string) =>
      consoles.world.call('POST', '/auth-providers', { name, type: 'API_KEY', data });
    await provider('before');
    const changed = Promise.withResolvers<void>();
    await page.route('**/console/api/changes?*', async (route) => {
      await changed.promise;
      await route.continue();
    });
    await open(`${base}/providers`);
    await shows(page, 'before');
    await provider('in-between');
    changed.resolve();
    await shows(page, 'in-between');
  });

  it('has one stream for different frontdoors, and a tab that begins in the background opens none', async (test) => {
    const { context, streams, page } = await person(test);
    const { credentials } = consoles.world;
    const made = await fetch(`${consoles.world.up.control.baseUrl}/frontdoor`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${btoa(`${credentials.accountId}:${credentials.apiToken}`)}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ name: 'of another tab', organizationId: credentials.organizationId }),
    });
    const { id } = (await made.json()) as { readonly id: string };
    assert.equal(made.status, 201);
    const [other] = await openTabs(context, 1, `/frontdoors/${id}/providers`);
    await page.close();
    const hidden = await context.newPage();
    await hidden.addInitScript(
      `Object.defineProperty(document, 'hidden', { get: () => globalThis.isShown !== true })`,
    );
    await hidden.goto(`${consoles.consoleUrl}${base}/shares`);
    await hidden.getByRole('heading', { level: 1, name: 'Shares' }).waitFor();
    await until(
      'the stream of the other tab',
      () => streams(),
      (open) => open.length === 1 && open[0] === other,
    );
    await other!.close();
    await until(
      'no stream',
      () => streams().length,
      (size) => size === 0,
    );
    await share('while-hidden');
    await hidden.evaluate(`globalThis.isShown = true, document.dispatchEvent(new Event('visibilitychange'))`);
    await shows(hidden, 'while-hidden');
    await until(
      'its stream',
      () => streams().length,
      (size) => size === 1,
    );
  });

  for (const [how, stop] of [
    ['is closed', (page: Page) => page.close()],
    ['stands still', freeze],
  ] as const)
    it(`another one reads the stream within seconds when the tab that does ${how}`, async (test) => {
      const { page, context, streams } = await person(test);
      const tabs = await openTabs(context, 2, `${base}/shares`);
      assert.deepEqual(streams(), [page]);
      await stop(page);
      await until(
        'the stream of another tab',
        () => streams(),
        (open) => open.some((tab) => tabs.includes(tab)),
      );
      const name = `after-it-${how.split(' ')[0]}-${how.length}`;
      await share(name);
      for (const tab of tabs) await shows(tab, name);
    });

  it('all say that the session has ended when one of them logs out, and continue after one log-in', async (test) => {
    const { page, context, email } = await person(test);
    const tabs = await openTabs(context, 2, `${base}/shares/new`);
    await page.locator('header button').last().click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.waitForURL('**/console/log-in');
    for (const tab of tabs) await tab.getByRole('dialog', ENDED).waitFor();
    await page.fill('#name', email);
    await page.fill('#password', 'plum giraffe engine 47');
    await page.click('button:not([type])');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    for (const tab of tabs) await tab.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('all say within seconds that the session has ended, and not that the control plane is away', async (test) => {
    const { page, context, email } = await person(test);
    const [other] = await openTabs(context, 1, '/settings/sessions');
    const admin = await consoles.person(test, 'administrator');
    await admin.open('/settings/sessions');
    const name = email.split('@')[0]!.replace('-', ' ');
    const row = admin.page.getByRole('row').filter({ hasText: `${name} whose` });
    await row.getByRole('button', { name: /^End/ }).click();
    await admin.page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click();
    const startedMs = performance.now();
    for (const tab of [page, other!]) await tab.getByRole('dialog', ENDED).waitFor();
    const tookMs = performance.now() - startedMs;
    test.diagnostic(`${Math.round(tookMs)} ms`);
    assert.ok(tookMs < SAID_WITHIN_MS, `${tookMs} ms`);
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('status').filter({ hasText: 'Your session has ended.' }).waitFor();
    assert.equal(await page.getByText('has not responded since').count(), 0);
  });
});

/** Its scripts stand still, as those of a frozen tab do. */
async function freeze(page: Page): Promise<void> {
  const client = await page.context().newCDPSession(page);
  await client.send('Debugger.enable');
  const paused = new Promise((resolve) => client.once('Debugger.paused', resolve));
  await client.send('Debugger.pause');
  await paused;
}
