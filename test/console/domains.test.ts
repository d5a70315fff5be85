// Domains in a real browser: where shares appear, a domain of one's own with its DNS records, what guards it, and its end; and
// the domain of one share.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { browserSkip } from '../support/browser.ts';
import { releaseWorld, sharedConsole, type ConsoleBrowser } from '../support/console-browser.ts';
import { checkLooks } from '../support/console-look.ts';

/** It is text wherever it appears. */
const HOSTILE = `staff <img src=x onerror=alert(1)>`;
const DOMAIN = 'apps.console.example';
const OF_SHARE = 'shop.console.example';

describe('the pages of domains', { skip: browserSkip }, () => {
  let consoles: ConsoleBrowser;
  let base: string;
  let providerId: string;
  before(async () => {
    consoles = await sharedConsole();
    base = `/frontdoors/${consoles.world.credentials.frontdoorId}/domains`;
    const data = { issuer: 'https://idp.example.com', client_id: 'c' };
    const made = await consoles.world.call('POST', '/auth-providers', { name: HOSTILE, type: 'OIDC', data });
    providerId = (made.json as { readonly id: string }).id;
  });
  after(releaseWorld);

  const domains = async () => {
    const { json } = await consoles.world.call('GET', '/custom-frontends');
    return (json as { readonly content: readonly Readonly<Record<string, unknown>>[] }).content;
  };

  it('make a domain, with the records to set and what DNS says about them', async (test) => {
    const { page, open, allow } = await consoles.person(test, 'editor');
    allow(/status of 400/);
    await open(base);
    await page.getByText('No custom domains yet.').waitFor();
    await page.getByText('{token}.share.localhost').waitFor();
    await checkLooks(page, 'domains-empty');
    // An empty list has the link as well.
    await page.getByRole('link', { name: 'Add custom domain' }).first().click();
    await page.getByRole('textbox', { name: 'Domain' }).fill('no domain');
    await page.getByText('open to everyone on this domain').waitFor();
    await page.getByLabel(HOSTILE).check();
    await page.getByRole('button', { name: 'Add domain' }).click();
    await page.getByText('Value for hostname must be of').waitFor();
    await checkLooks(page, 'domains-new');
    await page.getByRole('textbox', { name: 'Domain' }).fill(DOMAIN);
    await page.getByRole('button', { name: 'Add domain' }).click();
    await page.getByRole('heading', { level: 1, name: DOMAIN }).waitFor();
    await page.getByText(`*.${DOMAIN}`).first().waitFor();
    await page.getByText('Looked up:').first().waitFor();
    await page.getByText(`_frontdoor-challenge.${DOMAIN}`).first().waitFor();
    await page.getByText('The domain is not served until').waitFor();
    await checkLooks(page, 'domain');
    const checked = page.waitForResponse(/dns-check$/);
    await page.getByRole('button', { name: 'Check again' }).click();
    assert.equal((await checked).status(), 200);
    assert.deepEqual((await domains())[0]!['authProviderIds'], [providerId]);
  });

  it('show operators what is claimed, who grant it and withdraw that again', async (test) => {
    const { page, open } = await consoles.person(test, 'operator');
    await open('/settings/hostnames');
    await page.getByRole('button', { name: `Approve: ${DOMAIN}` }).click();
    await checkLooks(page, 'hostname-grant');
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('button', { name: `Revoke approval: ${DOMAIN}` }).waitFor();
    assert.equal((await domains())[0]!['proof'], 'GRANTED');
    await page.getByRole('button', { name: `Revoke approval: ${DOMAIN}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke approval' }).click();
    await page.getByRole('button', { name: `Approve: ${DOMAIN}` }).waitFor();
    assert.equal((await domains())[0]!['proof'], 'PENDING');
  });

  it('change what guards one, unless others did in the meantime', async (test) => {
    const { page, open, allow } = await consoles.person(test, 'editor');
    allow(/status of 412/);
    await open(base);
    await page.getByRole('link', { name: DOMAIN }).click();
    const choice = page.getByLabel(HOSTILE);
    await choice.uncheck();
    await page.getByText('open to everyone on this domain').waitFor();
    await page.getByRole('button', { name: 'Save sign-in providers' }).click();
    await page.getByText('Saved. Changes take effect within seconds.').waitFor();
    const [domain] = await domains();
    assert.deepEqual(domain!['authProviderIds'], []);
    await choice.check();
    await consoles.world.call('PATCH', `/custom-frontends/${String(domain!['id'])}`, {
      authProviderIds: [providerId],
    });
    await page.getByText('Someone else has changed this while you were editing.').waitFor();
    await page.getByRole('button', { name: 'Save sign-in providers' }).click();
    await page.getByText('Your changes were not saved').waitFor();
    await page.getByRole('button', { name: 'Load the latest version' }).last().click();
    await page.getByText('Your changes were not saved').waitFor({ state: 'detached' });
    assert.equal(await choice.isChecked(), true);
  });

  it('are read by readers in their language, and deleted by the name', async (test) => {
    const reader = await consoles.person(test, 'reader', { locale: 'de-DE' });
    // The domain is deleted while its page is open here.
    reader.allow(/status of 404/);
    await reader.open(base);
    await reader.page.getByRole('link', { name: DOMAIN }).click();
    await reader.page.getByRole('heading', { level: 2, name: 'DNS-Einträge' }).waitFor();
    assert.equal(await reader.page.getByLabel(HOSTILE).isDisabled(), true);
    assert.equal(await reader.page.getByRole('button', { name: 'Diese Domain löschen' }).isDisabled(), true);
    const { page, open } = await consoles.person(test, 'editor');
    await open(`${base}?status=ACTIVE`);
    await page.getByText('No results match these filters.').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).first().click();
    await checkLooks(page, 'domains');
    await page.getByRole('link', { name: DOMAIN }).click();
    await page.getByRole('button', { name: 'Delete this domain' }).click();
    const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete' });
    assert.equal(await confirm.isDisabled(), true);
    await page.getByLabel(`Type ${DOMAIN} to confirm`).fill(DOMAIN);
    await checkLooks(page, 'domain-delete');
    await confirm.click();
    await page.getByText('No custom domains yet.').waitFor();
    assert.deepEqual(await domains(), []);
  });

  it('give one share a domain, which is served once it is proven, and take it away', async (test) => {
    const { world } = consoles;
    const { environmentId } = await world.startAgent('domains');
    const share = { environmentId, shareMode: 'public', backendMode: 'proxy', target: 'http://127.0.0.1:9' };
    assert.equal((await world.call('POST', '/shares', { ...share, name: 'app' })).status, 201);
    const shareDomains = async () => (await world.call('GET', '/shares/app/domains')).json as unknown[];
    const path = `/frontdoors/${world.credentials.frontdoorId}/shares/app/domains`;
    const { page, open, allow } = await consoles.person(test, 'editor');
    allow(/status of (400|409)/);
    await open(path);
    const field = page.getByRole('textbox', { name: 'Domain' });
    const add = page.getByRole('button', { name: 'Add domain' });
    await field.fill('no domain');
    await add.click();
    await page.getByText('Value for hostname must be of').waitFor();
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    await field.fill(OF_SHARE);
    await add.click();
    await page.getByText(`Added ${OF_SHARE}.`).waitFor();
    assert.equal(await field.inputValue(), '');
    await page.getByText('Waiting for the TXT record below').waitFor();
    await page.getByRole('button', { name: `Copy: _frontdoor-challenge.${OF_SHARE}` }).waitFor();
    await page.getByRole('button', { name: 'Copy: share.localhost' }).waitFor();
    await field.fill(OF_SHARE);
    await add.click();
    await page.getByText(`has the domain ${OF_SHARE} already`).waitFor();
    assert.equal(await page.getByText('Not checked yet').count(), 2);
    await page.getByRole('button', { name: `Check now: ${OF_SHARE}` }).click();
    await page.getByText('Looked up:').first().waitFor();
    await checkLooks(page, 'share-domains');

    const operator = await consoles.person(test, 'operator');
    await operator.open('/settings/hostnames');
    await operator.page.getByRole('button', { name: `Approve: ${OF_SHARE}` }).click();
    await operator.page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    // The page of the share shows it without being asked.
    await page.getByText('Active: the share is available here').waitFor();

    const reader = await consoles.person(test, 'reader', { locale: 'de-DE' });
    await reader.open(path);
    await reader.page.getByText('Aktiv: Die Freigabe ist hier erreichbar').waitFor();
    assert.equal(await reader.page.getByRole('button', { name: 'Domain hinzufügen' }).count(), 0);
    assert.equal(await reader.page.getByRole('button', { name: /^Entfernen/ }).isDisabled(), true);

    await page.getByRole('button', { name: `Remove: ${OF_SHARE}` }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('stays reserved for your organization for 30 days').waitFor();
    await checkLooks(page, 'share-domain-remove');
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('heading', { level: 2, name: OF_SHARE, exact: true }).waitFor({ state: 'detached' });
    assert.deepEqual(await shareDomains(), []);
  });
});
