// Settings in a real browser: frontdoors, programs, people, the organization, and what operators see.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, describe, it } from 'node:test';
import { directDialer } from '#net';
import { appCode } from '../support/authenticator-app.ts';
import { browserSkip } from '../support/browser.ts';
import { startConsoleBrowser, type StartedConsole } from '../support/console-browser.ts';
import { checkLooks } from '../support/console-look.ts';

/** Nothing listens there. */
const NO_MAIL_SERVER = {
  host: '127.0.0.1',
  port: 9,
  tls: 'none',
  login: undefined,
  from: 'frontdoor@example.com',
  ca: undefined,
  outward: directDialer,
} as const;
const HOSTILE = `<img src=x onerror="alert(1)">`;

describe('the settings', { skip: browserSkip }, () => {
  let consoles: StartedConsole;

  before(async () => {
    consoles = await startConsoleBrowser({ access: { mail: NO_MAIL_SERVER } });
  });
  after(async () => {
    await consoles?.close();
  });

  it('make an API account whose token is shown once and works, and revoke it', async (test) => {
    const { page, open, allow } = await consoles.person(test, 'administrator');
    // The page of the account asks once more when the account is gone.
    allow(/status of 404/);
    await open('/settings/accounts');
    await page.getByRole('button', { name: 'New API account' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill(HOSTILE);
    await checkLooks(page, 'accounts-new');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('API account created').waitFor();
    const [id, token] = await page.getByRole('dialog').locator('.fd-copy .fd-mono').allTextContents();
    await page
      .getByRole('region', { name: 'Command line' })
      .getByText(`FRONTDOOR_API_TOKEN='${token}'`)
      .waitFor();
    await checkLooks(page, 'accounts-created');
    const close = page.getByRole('dialog').getByRole('button', { name: 'Close' }).last();
    assert.equal(await close.isDisabled(), true);
    await page.getByLabel('I have stored it').check();
    await close.click();
    const { baseUrl } = consoles.world.up.control;
    const authorization = `Basic ${id}:${token}`;
    const status = async () => (await fetch(`${baseUrl}/caller`, { headers: { authorization } })).status;
    assert.equal(await status(), 200);
    await page.getByRole('link', { name: HOSTILE }).click();
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByLabel(`Type ${HOSTILE} to confirm`).fill(HOSTILE);
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('heading', { level: 1, name: 'API accounts' }).waitFor();
    assert.equal(await status(), 401);
  });

  it('add a webhook, whose secret is shown once, and say why a test message was not delivered', async (test) => {
    const { page, open } = await consoles.person(test, 'administrator');
    await open('/settings/people');
    await page.getByRole('button', { name: /attention/ }).click();
    await page.getByRole('menuitem', { name: 'Set up notifications' }).click();
    await page.getByRole('button', { name: 'Add a webhook' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('pager');
    await page.getByRole('textbox', { name: 'Webhook URL' }).fill('https://127.0.0.1:9/hook');
    assert.equal(await page.getByLabel('A router is lost').count(), 0);
    await checkLooks(page, 'notifications-new');
    await page.getByRole('dialog').getByRole('button', { name: 'Add a webhook' }).click();
    await page.getByText(/^whsec_/).waitFor();
    await page.getByLabel('I have stored it').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('link', { name: 'pager' }).click();
    await page.getByRole('button', { name: 'Send test message' }).click();
    await page.getByText(/The test message was not delivered: .*is not fetched/).waitFor();
    await checkLooks(page, 'notification');
    await page.getByLabel('Send notifications to this webhook').uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Disabled').waitFor();
  });

  it('add email addresses, and say why no mail was sent', async (test) => {
    const { page, open } = await consoles.person(test, 'administrator');
    await open('/settings/notifications');
    await page.getByRole('button', { name: 'Add email addresses' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('team');
    await page.getByRole('textbox', { name: 'Email addresses' }).fill('ops@example.com\nann@example.com');
    await checkLooks(page, 'notifications-mail-new');
    await page.getByRole('dialog').getByRole('button', { name: 'Add email addresses' }).click();
    await page.getByText('ops@example.com, ann@example.com').waitFor();
    await page.getByRole('link', { name: 'team' }).click();
    assert.equal(await page.getByRole('button', { name: 'Rotate secret' }).count(), 0);
    await page.getByRole('button', { name: 'Send test message' }).click();
    await page
      .getByText(/The test message was not delivered: the mail server .* cannot be reached/)
      .waitFor();
    await checkLooks(page, 'notification-mail');
    await page.getByRole('textbox', { name: 'Email addresses' }).fill('bob@example.com');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved').waitFor();
  });

  it('send all events to a collector, show how many wait, and stop', async (test) => {
    const { page, open } = await consoles.person(test, 'operator');
    await open('/settings/event-export');
    await page.getByText('Not set up').waitFor();
    await page.getByRole('textbox', { name: 'Collector URL' }).fill('https://10.0.0.1/events');
    await page.getByLabel('Secret', { exact: true }).fill('Bearer t0k3n');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('A secret is stored').waitFor();
    assert.equal(await page.getByText('t0k3n').count(), 0);
    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByText(/The test event was not delivered: .*is not fetched/).waitFor();
    await checkLooks(page, 'event-export');
    await page.getByRole('button', { name: 'Stop event export' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop event export' }).click();
    await page.getByText('Not set up').waitFor();
  });

  it('invite a person, whose role can be changed, and list sessions', async (test) => {
    const { page, open } = await consoles.person(test, 'administrator');
    await open('/settings/people');
    await page.getByRole('button', { name: 'Invite a person' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('Bob');
    await page.getByLabel('Role').selectOption('editor');
    await page.getByRole('dialog').getByRole('button', { name: 'Invite a person' }).click();
    const link = page.getByRole('dialog').locator('.fd-copy .fd-mono').first();
    assert.match((await link.textContent())!, /\/console\/welcome#[\w-]{40,}$/);
    await page.getByLabel('I have stored it').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('button', { name: 'Revoke: Bob' }).waitFor();
    await checkLooks(page, 'people');
    await page.getByRole('link', { name: 'Sessions', exact: true }).click();
    await page.getByText('(current session)').waitFor();
    await checkLooks(page, 'sessions');
  });

  it('make a link for a new password, which is shown once', async (test) => {
    const other = await consoles.person(test, 'reader');
    const { page, open } = await consoles.person(test, 'administrator');
    await open('/settings/people');
    const reader = other.email.split('@')[0]!.replace('-', ' ');
    await page.getByRole('link', { name: new RegExp(`^${reader}`) }).click();
    await page.getByRole('button', { name: 'New password' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create link' }).click();
    const link = page.getByRole('dialog').locator('.fd-copy .fd-mono').first();
    assert.match((await link.textContent())!, /\/console\/new-password#[\w-]{40,}$/);
    await checkLooks(page, 'person-password');
    await page.getByLabel('I have stored it').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    assert.equal(await page.getByRole('dialog').count(), 0);
  });

  it('remove the second factor of a person who has lost it', async (test) => {
    const { page: own, email } = await consoles.person(test, 'reader');
    await own.goto(`${consoles.consoleUrl}/account`);
    await own.click('text=Set up a second factor');
    await own.fill('#code', appCode((await own.textContent('#secret'))!));
    await own.click('button:not([type])');
    const code = await own.locator('.codes code').first().textContent();
    const [saved] = await Promise.all([
      own.waitForEvent('download'),
      own.getByRole('link', { name: 'Save as a file' }).click(),
    ]);
    assert.ok((await readFile(await saved.path(), 'utf8')).startsWith(`${code}\n`));
    const { page, open } = await consoles.person(test, 'administrator');
    await open('/settings/people');
    await page.getByRole('link', { name: email.split('@')[0]!.replace('-', ' ') }).click();
    const remove = page.getByRole('button', { name: 'Remove second factor' });
    await remove.click();
    const dialog = page.getByRole('dialog');
    await checkLooks(page, 'person-factor');
    await dialog.getByRole('button', { name: 'Remove second factor' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Remove second factor', disabled: true }).waitFor();
    await own.goto(`${consoles.consoleUrl}/account`);
    // The session that the second factor opened has ended with it.
    await own.locator('#password').waitFor();
  });

  it('show whose sessions end before a second factor is demanded, and end them', async (test) => {
    const other = await consoles.person(test, 'reader');
    const { page, open, allow } = await consoles.person(test, 'administrator');
    allow(/status of 401/);
    const { baseUrl } = consoles.world.up.control;
    const { accountId, apiToken, organizationId } = consoles.world.credentials;
    const settings = async (method: string, body?: object) => {
      const response = await fetch(`${baseUrl}/organizations/${organizationId}/settings`, {
        method,
        headers: {
          authorization: `Basic ${btoa(`${accountId}:${apiToken}`)}`,
          'content-type': 'application/json',
        },
        body: body === undefined ? null : JSON.stringify(body),
      });
      return (await response.json()) as { readonly secondFactor: boolean };
    };
    test.after(() => settings('PATCH', { secondFactor: false }));
    await open('/settings/organization');
    const box = page.getByRole('switch', { name: /Require a second factor/ });
    await box.click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Require a second factor' });
    await dialog.getByText(/sessions end immediately/).waitFor();
    await dialog.getByText('(current session)').waitFor();
    const reader = other.email.split('@')[0]!.replace('-', ' ');
    await dialog.getByText(`${reader} whose name`).waitFor();
    await checkLooks(page, 'settings-demand');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    assert.equal((await settings('GET')).secondFactor, false);
    assert.equal(await box.isChecked(), true);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.getByRole('button', { name: 'Require a second factor' }).click();
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    assert.equal((await settings('GET')).secondFactor, true);
  });

  it('say where a value is wrong, and keep what was typed', async (test) => {
    const { page, open, allow } = await consoles.person(test, 'administrator');
    allow(/status of 400/);
    await open('/settings/frontdoors');
    await page.getByRole('button', { name: 'New frontdoor' }).click();
    const name = page.getByRole('textbox', { name: 'Name' });
    await name.fill('  ');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByRole('dialog').getByText(/name/i).nth(1).waitFor();
    assert.equal(await name.getAttribute('aria-invalid'), 'true');
    assert.equal(await name.inputValue(), '  ');
  });

  it('are as much as the role permits', async (test) => {
    const { page, open } = await consoles.person(test, 'reader');
    await open('/settings');
    await page.getByRole('heading', { level: 1, name: 'Frontdoors' }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'New frontdoor' }).isDisabled(), true);
    assert.equal(await page.getByRole('link', { name: 'People' }).count(), 0);
    assert.equal(await page.getByRole('link', { name: 'Mesh' }).count(), 0);
  });
});
