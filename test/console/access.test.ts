// Access to a share in a real browser: log-ins, the policy and what a change of it does, questions, grants of private shares.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { browserSkip } from '../support/browser.ts';
import { releaseWorld, sharedConsole, type ConsoleBrowser } from '../support/console-browser.ts';
import { checkLooks } from '../support/console-look.ts';
import { eventually } from '../support/world.ts';

/** It is text wherever it appears. */
const HOSTILE = `<img src=x onerror=alert(1)>`;

/** Opens the card of a rule that is not set. */
async function addRule(page: Page, name: string): Promise<void> {
  await page.getByLabel('Add rule').selectOption(name);
}

describe('the access of a share', { skip: browserSkip }, () => {
  let consoles: ConsoleBrowser;
  let service: Server;
  let shares: string;
  before(async () => {
    service = createServer((_request, response) => response.end('reached')).listen(0, '127.0.0.1');
    await once(service, 'listening');
    consoles = await sharedConsole();
    const { world } = consoles;
    shares = `/frontdoors/${world.credentials.frontdoorId}/shares`;
    const agent = await world.startAgent('laptop');
    const target = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    await agent.share(target, { name: 'app' });
    await agent.share(target, { name: 'secret', mode: 'private' });
    const data = { placement: 'header', name: 'x-key', keys: [{ name: 'ci' }] };
    await call('POST', '/auth-providers', { name: `keys ${HOSTILE}`, type: 'API_KEY', data });
  });
  after(async () => {
    service?.close();
    await releaseWorld();
  });

  const call = async (...given: Parameters<ConsoleBrowser['world']['call']>) => {
    const answer = await consoles.world.call(...given);
    assert.ok(answer.status < 300, answer.text);
    return answer.json as Readonly<Record<string, unknown>>;
  };
  const policy = () => call('GET', '/shares/app/policy');

  it('shows what a change of the policy does before it is saved', async (test) => {
    const { world } = consoles;
    const inspector = { enabled: true };
    await world.call('PUT', '/shares/app/inspector', inspector);
    // Until the gateway records, and its recording has arrived.
    for (;;) {
      await world.get('app.share.localhost', `/orders?${encodeURIComponent(HOSTILE)}`);
      const { totalElements } = await call('GET', '/shares/app/inspector/requests');
      if (Number(totalElements) > 0) break;
    }
    const { page, open, allow } = await consoles.person(test, 'editor');
    allow(/status of 4(?:00|09)/);
    await open(`${shares}/app/access`);
    await page.getByText('no sign-in provider and no user with a password').waitFor();
    await checkLooks(page, 'access');
    await page.getByLabel('Sender').selectOption('person');
    await page.getByRole('textbox', { name: 'Email address', exact: true }).fill(`${HOSTILE}@example.com`);
    await page.getByLabel('Client address').fill('127.0.0.1');
    await page.getByRole('button', { name: 'Test' }).click();
    await page.getByRole('heading', { level: 3, name: 'Decision' }).waitFor();
    await page.getByText('Allowed', { exact: true }).waitFor();
    await checkLooks(page, 'access-question');
    await addRule(page, 'Blocked networks');
    await page.getByRole('textbox', { name: 'Blocked networks' }).fill('127.0.0.0/8\nnowhere');
    await addRule(page, 'Email addresses');
    await page.getByRole('textbox', { name: 'Email addresses' }).fill('*@example.com');
    await page.getByText('no selected provider identifies people').first().waitFor();
    await addRule(page, 'Users with a password');
    await page.getByRole('button', { name: 'Add user' }).click();
    await page.getByLabel('User name').fill(HOSTILE);
    await page.getByRole('textbox', { name: 'Password' }).fill('short');
    await page.getByRole('button', { name: 'Review and save', exact: true }).click();
    await page.getByText('Value for basicAuth.0.password must be of').first().waitFor();
    await page.getByRole('textbox', { name: 'Password' }).fill('long enough');
    await page.getByRole('button', { name: 'Review and save', exact: true }).click();
    await page.getByText('Value for ipDeny.1 must be of').first().waitFor();
    await page.getByRole('textbox', { name: 'Blocked networks' }).fill('127.0.0.0/8');
    await page.getByRole('button', { name: 'Review and save', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Effect of this change' });
    await dialog.getByText('a different decision').waitFor();
    await dialog.getByText('address-denied').first().waitFor();
    await dialog.getByText('Your test request').waitFor();
    await dialog.getByText('Your changes alter the decision for this request.').waitFor();
    await checkLooks(page, 'access-review');
    assert.deepEqual((await policy())['ipDeny'], []);
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await dialog.getByText('so that nobody would be admitted').waitFor();
    await dialog.getByRole('button', { name: 'Go back' }).click();
    await page.getByRole('button', { name: 'Remove: Email addresses' }).click();
    await page.getByRole('button', { name: 'Review and save', exact: true }).click();
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved. Changes take effect within seconds.').waitFor();
    const { ipDeny, emails, basicAuth } = await policy();
    assert.deepEqual([ipDeny, emails], [['127.0.0.0/8'], []]);
    assert.deepEqual(basicAuth, [{ name: HOSTILE, password: '********' }]);
    await page.getByText('Not from 127.0.0.0/8.').first().waitFor();
    await page.getByRole('button', { name: 'Edit: Users with a password' }).click();
    await page.getByText('The stored password is kept.').waitFor();
    assert.equal((await world.get('app.share.localhost', '/')).status, 403);
  });

  it('says in the list and the overview who may come in, and draws a refused request at the gateway', async (test) => {
    const { world } = consoles;
    await call('PUT', '/shares/app/policy', { ipDeny: ['127.0.0.0/8'] });
    const { page, open } = await consoles.person(test, 'editor');
    await open(shares);
    await page.getByText('Everyone except from 127.0.0.0/8').waitFor();
    assert.equal((await world.get('app.share.localhost', '/refused')).status, 403);
    await open(shares.replace(/shares$/, 'failures'));
    await page
      .getByRole('row', { name: /\/refused/ })
      .getByRole('link')
      .first()
      .click();
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Gateway' })
      .getByText('refused the request')
      .waitFor();
    const text = (await page.textContent('main'))!;
    assert.match(text, /the network of the client is denied/);
    assert.equal(text.split('address-denied').length, 2, 'the code is shown once');
    await checkLooks(page, 'refused-request');
    await call('PUT', '/shares/app/policy', { expiresAt: '2020-05-12T00:00:00Z' });
    await open(`${shares}/app`);
    await page.getByText('Closed since 12 May 2020').first().waitFor();
    await page.getByText('No access').waitFor();
    await open(shares);
    await page
      .getByRole('row', { name: /Closed since 12 May 2020/ })
      .getByText('Closed', { exact: true })
      .waitFor();
  });

  it('shows what other log-ins do before they are saved', async (test) => {
    await call('PUT', '/shares/app/policy', {});
    await consoles.world.get('app.share.localhost', '/orders');
    const { page, open } = await consoles.person(test, 'editor');
    await open(`${shares}/app/access`);
    await page.getByLabel(`keys ${HOSTILE}`).check();
    await page.getByRole('button', { name: 'Test' }).click();
    const draft = page.getByRole('region', { name: 'With your unsaved changes' });
    await draft.getByText('Refused: no valid credentials').waitFor();
    await page.getByText('Your changes alter the decision for this request.').waitFor();
    await page.getByRole('button', { name: 'Review and save', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Effect of this change' });
    await dialog.getByText('1 field changes: Sign-in providers').waitFor();
    await dialog.getByText('a different decision').waitFor();
    await dialog.getByText('credential-missing').first().waitFor();
    await dialog.getByText('Your test request').waitFor();
    await checkLooks(page, 'access-log-ins-review');
    await dialog.getByRole('button', { name: 'Go back' }).click();
    assert.deepEqual((await call('GET', '/shares/app'))['authProviderIds'], []);
  });

  it('uses a shared policy instead of rules of its own, and leaves it', async (test) => {
    const { world } = consoles;
    const { id } = await call('POST', '/policies', { name: 'office', ipDeny: ['127.0.0.0/8'] });
    const status = async () => (await world.get('app.share.localhost', '/')).status;
    assert.equal(await status(), 200);
    const { page, open } = await consoles.person(test, 'editor');
    await open(`${shares}/app/access`);
    const review = page.getByRole('button', { name: 'Review and save', exact: true });
    const save = page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true });
    const rules = page.getByLabel('Rules', { exact: true });
    await rules.selectOption('office');
    await page.getByRole('region', { name: 'office' }).getByText('Not from 127.0.0.0/8.').waitFor();
    await review.click();
    await page.getByRole('dialog').getByText('a different decision').waitFor();
    await save.click();
    await page.getByRole('region', { name: 'Who has access' }).getByText('Not from 127.0.0.0/8.').waitFor();
    await checkLooks(page, 'access-shared-policy');
    await eventually(status, (found) => found === 403);
    await call('PUT', `/policies/${String(id)}`, {});
    await eventually(status, (found) => found === 200);
    await rules.selectOption('Rules of this share');
    await review.click();
    await save.click();
    await page.getByText('Saved. Changes take effect within seconds.').waitFor();
    assert.equal((await call('GET', '/shares/app'))['policyId'], null);
  });

  it('sets what browsers know: HTTPS only, and which other pages read responses', async (test) => {
    const { page, open, allow } = await consoles.person(test, 'editor');
    allow(/status of 400/);
    await open(`${shares}/app/access`);
    const dialog = page.getByRole('dialog', { name: 'Effect of this change' });
    const review = page.getByRole('button', { name: 'Review and save', exact: true });
    await addRule(page, 'Redirect to HTTPS');
    await page.getByLabel('Redirect plain HTTP to HTTPS').selectOption('never');
    await addRule(page, 'HSTS');
    await page.getByLabel('Require HTTPS in browsers (HSTS)').check();
    await page.getByLabel('Duration in seconds').fill('soon');
    await addRule(page, 'CORS');
    await page.getByLabel('Origins that can read responses').fill('https://www.example.com');
    await page.getByLabel('Allow cookies and sign-ins').check();
    await review.click();
    await page.getByText('Value for hsts.maxAgeSeconds must be').first().waitFor();
    await page.getByLabel('Duration in seconds').fill('600');
    await checkLooks(page, 'access-web');
    await review.click();
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved. Changes take effect within seconds.').waitFor();
    const { httpsRedirect, hsts, cors } = await policy();
    assert.equal(httpsRedirect, 'never');
    assert.deepEqual(hsts, { maxAgeSeconds: 600, includeSubdomains: false, preload: false });
    const { origins, credentials } = cors as Record<string, unknown>;
    assert.deepEqual([origins, credentials], [['https://www.example.com'], true]);
  });

  it('guards the share by log-ins, and does not overwrite what others changed', async (test) => {
    const { page, open, allow } = await consoles.person(test, 'editor');
    allow(/status of 412/);
    await open(`${shares}/app/access`);
    await page.getByLabel(`keys ${HOSTILE}`).check();
    await page.getByRole('button', { name: 'Review and save', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved. Changes take effect within seconds.').waitFor();
    await addRule(page, 'Contact');
    await page.getByRole('textbox', { name: 'Contact' }).fill('mine@example.com');
    await consoles.world.call('PUT', '/shares/app/policy', { contact: 'theirs@example.com' });
    await page.getByText('Someone else has changed this while you were editing.').waitFor();
    await page.getByRole('button', { name: 'Review and save', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Your changes were not saved').waitFor();
    await page.getByRole('button', { name: 'Load the latest version' }).click();
    await eventually(
      () => page.getByRole('textbox', { name: 'Contact' }).inputValue(),
      (value) => value === 'theirs@example.com',
    );
    await page.getByLabel('Sender').selectOption('key');
    await page.getByLabel('Key name').fill('ci');
    await page.getByRole('button', { name: 'Test' }).click();
    await page.getByText('(api-key ci)').waitFor();
    assert.equal((await policy())['contact'], 'theirs@example.com');
  });

  it('grants a private share to machines', async (test) => {
    const { page, open } = await consoles.person(test, 'editor');
    await open(`${shares}/secret/access`);
    await page.getByText('This share is private').waitFor();
    await page.getByLabel('laptop').check();
    await checkLooks(page, 'access-private');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved. Changes take effect within seconds.').waitFor();
    const { grants } = await call('GET', '/shares/secret');
    assert.equal((grants as readonly string[]).length, 1);
  });

  it('is read by readers, in their language, who ask questions, too', async (test) => {
    const { page, open } = await consoles.person(test, 'reader', { locale: 'de-DE' });
    await open(`${shares}/app/access`);
    await page.getByRole('heading', { level: 2, name: 'Wer erreicht sie?' }).waitFor();
    await page.getByText('Abgewiesene sehen theirs@example.com.').first().waitFor();
    assert.equal(await page.getByRole('button', { name: /^(Bearbeiten|Entfernen)/ }).count(), 0);
    assert.equal(
      await page.getByRole('button', { name: 'Prüfen und speichern', exact: true }).isDisabled(),
      true,
    );
    await page.getByRole('button', { name: 'Fragen' }).click();
    await page.getByText('Abgewiesen: kein gültiger Nachweis').waitFor();
    assert.ok(
      (await page.locator('td > [lang=en]').count()) > 3,
      'sentences of the API are marked as English',
    );
    await checkLooks(page, 'access-reader');
  });
});
