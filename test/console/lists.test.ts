// What every list has in common: filters in the address, and what clears them; rows of one line, their selection, menus and files.
// The components themselves are tested on the style page (ADR 0110), which has them all.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { browserSkip } from '../support/browser.ts';
import { stylePage } from '../support/built-console.ts';
import { checkAxe, releaseWorld, sharedConsole, type ConsoleBrowser } from '../support/console-browser.ts';
import { entryOf } from '../support/row-menu.ts';

const SHARES = 16;
/** The page of 16 shares, in pixels, on a screen that is 1,280 wide. */
const MOST_HEIGHT = 900;
/** One line, with the line below. */
const ROW_HEIGHT = 32;
const WIDTHS = [320, 768, 1_920];
const END = '2020-05-12T00:00:00.000Z';

describe('lists of the console', { skip: browserSkip }, () => {
  let consoles: ConsoleBrowser;
  before(async () => {
    consoles = await sharedConsole();
  });
  after(releaseWorld);

  it('clear their filters, and keep the organization that the address names', async (test) => {
    const { page, open } = await consoles.person(test, 'operator');
    await open('/settings/frontdoors');
    const caller = `fetch('/console/api/caller').then((answer) => answer.json())`;
    const { organizationId } = await page.evaluate<{ readonly organizationId: string }>(caller);
    await open(`/settings/frontdoors?organizationId=${organizationId}&name=no-such-name`);
    await page.getByText('No results match these filters.').waitFor();
    const clear = page.getByRole('button', { name: 'Clear filters' });
    await clear.first().click();
    await page.getByRole('table').waitFor();
    assert.equal(new URL(page.url()).search, `?organizationId=${organizationId}`);
    assert.equal(await page.getByLabel('Name contains').inputValue(), '');
    assert.equal(await clear.count(), 0, 'the organization is no filter');
  });

  it('put what is typed into the address, and begin at the first page again', async (test) => {
    const { page, open } = await consoles.person(test, 'operator');
    await open('/settings/organizations?page=7');
    await page.getByLabel('Name contains').fill('no-such-name');
    await page.getByText('No results match these filters.').waitFor();
    assert.equal(new URL(page.url()).search, '?name=no-such-name');
    await page.reload();
    await page.getByText('No results match these filters.').waitFor();
    assert.equal(await page.getByLabel('Name contains').inputValue(), 'no-such-name');
  });

  it('show a choice of the address that their choices lack', async (test) => {
    const { page, open, allow } = await consoles.person(test, 'administrator');
    // There is no such agent.
    allow(/status of 40[04]/);
    const base = `/frontdoors/${consoles.world.credentials.frontdoorId}`;
    await open(`${base}/shares?environmentId=0123456789abcdef`);
    const agent = page.getByRole('search').getByLabel('Agent');
    await agent.waitFor();
    assert.equal(await agent.locator('option:checked').textContent(), '01234567');
    await agent.selectOption({ label: 'Any' });
    await page.getByRole('button', { name: 'Clear filters' }).waitFor({ state: 'detached' });
    assert.equal(new URL(page.url()).search, '');
  });

  it('show 16 shares on 900 pixels, whole texts of a row under the pointer and with the focus, and changes of many', async (test) => {
    const { world } = consoles;
    const { id: environmentId } = await world.enrollEnvironment('a-machine-with-a-long-name');
    const share = (name: string, shareMode: string) =>
      world.call('POST', '/shares', {
        environmentId,
        name,
        shareMode,
        backendMode: 'proxy',
        target: 'http://a-service-with-a-long-name.internal.example.com:3000',
      });
    for (let at = 1; at < SHARES; at += 1) await share(`listed-${String(at).padStart(2, '0')}`, 'public');
    await share('listed-16', 'private');
    const { page, open, allow } = await consoles.person(test, 'administrator');
    // Someone else changes a share that was read for a change of many.
    allow(/status of (404|412)/);
    await page.setViewportSize({ width: 1_280, height: MOST_HEIGHT });
    await open(`/frontdoors/${world.credentials.frontdoorId}/shares`);
    await page.getByRole('row').nth(SHARES).waitFor();
    const height = Number(await page.evaluate('document.scrollingElement.scrollHeight'));
    assert.ok(height <= MOST_HEIGHT, `${height} pixels`);
    assert.deepEqual([...new Set(await heightsOf(page))], [ROW_HEIGHT]);
    await checkTips(page);
    await checkDisabling(page, (name) => world.call('PUT', `/shares/${name}/policy`, { expiresAt: END }));
    const exported = page.waitForEvent('download');
    await page.getByLabel('Name contains').fill('listed-0');
    await page.getByText('9 entries').waitFor();
    await page.getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'CSV file' }).click();
    const file = await exported;
    assert.equal(file.suggestedFilename(), 'frontdoor-shares.csv');
    const [head, ...lines] = (await readFile(await file.path(), 'utf8')).trimEnd().split('\r\n');
    assert.match(head!, /^token,name,shareMode,.*access\.admits/);
    assert.equal(lines.length, 9);
  });

  it('have components that can be used by everyone at every width, and choices that stay', async (test) => {
    const folder = await mkdtemp(join(tmpdir(), 'frontdoor-style-'));
    test.after(() => rm(folder, { recursive: true }));
    const path = join(folder, 'index.html');
    await writeFile(path, await stylePage());
    const { page, close } = await consoles.browser.person('the style page');
    test.after(close);
    await page.goto(pathToFileURL(path).href);
    const list = page.getByRole('region', { name: 'List', exact: true });
    for (const [at, width] of WIDTHS.entries()) {
      await page.emulateMedia({ colorScheme: at % 2 === 0 ? 'light' : 'dark' });
      await page.setViewportSize({ width, height: 800 });
      await list.getByRole('row').nth(1).waitFor();
      const shown = Number(await page.evaluate('document.scrollingElement.scrollWidth'));
      assert.ok(shown <= width, `${shown} pixels wide on a screen of ${width}`);
      await checkAxe(page);
    }
    // Hidden columns and the height of rows are there again after the page was loaded again.
    await list.getByRole('button', { name: 'View' }).click();
    await page.getByLabel('Target').uncheck();
    await page.getByLabel('Roomy').check();
    await page.reload();
    const target = list.getByRole('columnheader', { name: 'Target' });
    await list.getByRole('columnheader', { name: 'Access' }).waitFor();
    assert.equal(await target.count(), 0);
    assert.ok((await heightsOf(page))[0]! > ROW_HEIGHT);
    // The head stays where it is while the rows move below it.
    await list.getByRole('row').nth(10).scrollIntoViewIfNeeded();
    await page.mouse.wheel(0, 300);
    const head = await list.getByRole('rowgroup').first().boundingBox();
    assert.ok(head!.y >= 0 && head!.y < 400, `${head!.y}`);
    await list.getByRole('checkbox', { name: 'Select service-1', exact: true }).check();
    await list.getByRole('checkbox', { name: 'Select service-2', exact: true }).check();
    await list.getByText('2 selected').waitFor();
    await list.getByRole('button', { name: '2 further addresses' }).first().click();
    await page.getByRole('dialog').getByText('https://shop.example.com', { exact: true }).waitFor();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Copy: http:\/\/old/ })
      .waitFor();
    await page.keyboard.press('Escape');
    await (await entryOf(page, 'Delete', 'service-4')).click();
    await page.getByRole('dialog', { name: 'Delete services' }).getByText('Ready').waitFor();
  });
});

async function heightsOf(page: Page): Promise<readonly number[]> {
  return page.evaluate<readonly number[]>(
    `[...document.querySelectorAll('.fd-table tbody tr')].map((row) => row.getBoundingClientRect().height)`,
  );
}

/** What a row shortens is whole under the pointer and with the focus, and is gone with Escape. */
async function checkTips(page: Page): Promise<void> {
  const tip = page.locator('.fd-tip');
  const target = 'http://a-service-with-a-long-name.internal.example.com:3000';
  const row = page.getByRole('row').nth(1);
  await row.getByText('a-service-with-a-long-name.internal').hover();
  await tip.getByText(target).waitFor();
  await page.keyboard.press('Escape');
  await tip.waitFor({ state: 'detached' });
  await page.getByRole('heading', { level: 1 }).hover();
  await page.getByRole('checkbox', { name: 'Select all rows of this page' }).focus();
  await page.keyboard.press('Tab');
  while ((await tip.count()) === 0) await page.keyboard.press('Tab');
  await tip.getByText(`Target: ${target}`).waitFor();
  await page.keyboard.press('Escape');
  await tip.waitFor({ state: 'detached' });
}

/** Three are disabled at once: one was changed in the meantime and one is private, which the dialog reports, and the third is disabled. */
async function checkDisabling(page: Page, change: (name: string) => Promise<unknown>): Promise<void> {
  for (const name of ['listed-01', 'listed-02', 'listed-16'])
    await page.getByRole('checkbox', { name: `Select ${name}`, exact: true }).check();
  await page.getByText('3 selected').waitFor();
  await page.getByRole('button', { name: 'Disable', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Disable 3 shares' });
  await dialog.getByText('Private shares have no end of access.').waitFor();
  assert.equal(await dialog.getByText('Ready').count(), 2);
  await checkAxe(page, '[role=dialog]');
  await change('listed-02');
  await dialog.getByRole('button', { name: 'Disable' }).click();
  await dialog.getByText('1 done, 2 failed').waitFor();
  const line = (name: string) => dialog.getByRole('listitem').filter({ hasText: name });
  await line('listed-01').getByText('Done').waitFor();
  await line('listed-02').getByText('Someone else has changed this.').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await page
    .getByRole('row')
    .filter({ hasText: 'listed-01' })
    .getByText(/^Closed since/)
    .waitFor();
  assert.equal(await page.getByText('3 selected').count(), 0);
}
