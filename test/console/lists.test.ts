// What every list has in common: filters in the address, and what clears them.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { browserSkip } from '../support/browser.ts';
import { releaseWorld, sharedConsole, type ConsoleBrowser } from '../support/console-browser.ts';

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
});
