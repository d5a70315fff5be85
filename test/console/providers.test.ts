// Sign-in providers in a real browser: forms from schemas, secrets that stay or are shown once, tests, uses, sessions, ends.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { browserSkip } from '../support/browser.ts';
import { releaseWorld, sharedConsole, type ConsoleBrowser } from '../support/console-browser.ts';
import { checkLooks } from '../support/console-look.ts';
import {
  DEFAULT_CLIENT,
  startIdentityProvider,
  type IdentityProvider,
} from '../support/identity-provider.ts';
import { eventually } from '../support/world.ts';

/** It is text wherever it appears. */
const HOSTILE = `staff <img src=x onerror=alert(1)>`;
const ANN = { sub: 'ann', email: 'ann@example.com', emailVerified: true, name: '<b>Ann</b>' };

describe('the pages of sign-in providers', { skip: browserSkip }, () => {
  let consoles: ConsoleBrowser;
  let idp: IdentityProvider;
  let service: Server;
  let base: string;
  before(async () => {
    service = createServer((_request, response) => response.end('reached')).listen(0, '127.0.0.1');
    await once(service, 'listening');
    [consoles, idp] = await Promise.all([sharedConsole(), startIdentityProvider({ users: [ANN] })]);
    base = `/frontdoors/${consoles.world.credentials.frontdoorId}/providers`;
  });
  after(async () => {
    service?.close();
    await idp?.close();
    await releaseWorld();
  });

  const call = async (...given: Parameters<ConsoleBrowser['world']['call']>) => {
    const answer = await consoles.world.call(...given);
    assert.ok(answer.status < 300, answer.text);
    return answer.json as Readonly<Record<string, unknown>>;
  };
  const addProvider = async (name: string): Promise<string> => {
    const data = { issuer: idp.issuer, client_id: DEFAULT_CLIENT.id, client_secret: DEFAULT_CLIENT.secret };
    return String((await call('POST', '/auth-providers', { name, type: 'OIDC', data }))['id']);
  };

  it('are made from the schema of their type, and tested before and after', async (test) => {
    const { page, open, allow } = await consoles.person(test, 'editor');
    allow(/status of 400/);
    await open(base);
    await page.getByText('No sign-in providers yet.').waitFor();
    await checkLooks(page, 'providers-empty');
    await page.getByRole('link', { name: 'Add sign-in provider' }).first().click();
    await page.getByRole('link', { name: 'OpenID Connect' }).waitFor();
    await checkLooks(page, 'providers-types');
    await page.getByRole('link', { name: 'OpenID Connect' }).click();
    await page.getByText('Register an application (a client)').waitFor();
    const reserved = await page.getByText('/auth/callback').textContent();
    await page.getByLabel('Issuer').fill('not an address');
    await page.getByLabel('Name').fill(HOSTILE);
    await page.getByLabel('Client ID').fill(DEFAULT_CLIENT.id);
    await page.getByRole('textbox', { name: 'Client secret' }).fill(DEFAULT_CLIENT.secret);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('Value for data.issuer must be of').waitFor();
    await checkLooks(page, 'providers-new');
    const tryIt = page.getByRole('button', { name: 'Test before saving' });
    await page.getByLabel('Issuer').fill(`${idp.issuer}/elsewhere`);
    await tryIt.click();
    await page.getByText('cannot read the metadata of the provider').waitFor();
    assert.equal(await page.getByText('Value for data.issuer must be of').count(), 0);
    await page.getByLabel('Issuer').fill(idp.issuer);
    await page.getByText('cannot read the metadata of the provider').waitFor({ state: 'detached' });
    await tryIt.click();
    await page.getByText('Nothing was saved.').waitFor();
    await checkLooks(page, 'providers-tested');
    assert.deepEqual((await call('GET', '/auth-providers'))['content'], []);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: HOSTILE }).waitFor();
    await page.getByText('read its metadata').waitFor();
    await page.getByText('Enter these redirect URLs in the settings of the application:').waitFor();
    assert.equal(await page.getByText('/auth/callback').textContent(), reserved);
    await page.getByText('This provider is not used.').waitFor();
    await checkLooks(page, 'provider');
    idp.allowRedirects([reserved!]);
    const opened = page.context().waitForEvent('page');
    await page.getByRole('link', { name: 'Test sign-in' }).click();
    const trial = await opened;
    await trial.click('#ann');
    await trial.getByRole('heading', { level: 1, name: 'The sign-in works' }).waitFor();
    await trial.getByText(ANN.email).first().waitFor();
    await trial.close();
  });

  it('have a field for everything in the schema of each type', async (test) => {
    const { page, open } = await consoles.person(test, 'reader');
    const types = (await call('GET', '/auth-provider-types')) as unknown as readonly {
      readonly type: string;
    }[];
    const labels: Record<string, readonly string[]> = {};
    for (const { type } of types) {
      await open(`${base}/new?type=${type}`);
      await page.getByRole('textbox', { name: 'Name', exact: true }).first().waitFor();
      const shown = await page.locator('form label, form legend').allTextContents();
      labels[type] = shown.map((text) => text.replace(/ [*]$/, '*').replace(' (optional)', ''));
    }
    const known = ['Name*', 'Client ID*', 'Client secret*', 'Scopes'];
    const keys = ['Keys', 'Keys 1', 'Name*', 'Key', 'Expires'];
    assert.deepEqual(labels, {
      OIDC: [
        'Name*',
        'Issuer*',
        'Client ID*',
        'Client secret',
        'Scopes',
        'PKCE',
        'Trust email addresses',
        'Metadata URL',
      ],
      API_KEY: ['Name*', 'Key location*', ...keys, 'Header or parameter name'],
      GOOGLE: [...known, 'Issuer'],
      GITHUB: [...known, 'GitHub URL', 'GitHub API URL'],
      GITLAB: [...known, 'GitLab URL'],
      MICROSOFT: [
        'Name*',
        'Tenant*',
        'Client ID*',
        'Client secret*',
        'Scopes',
        'Allowed tenants',
        'Trust email addresses',
        'Cloud URL',
      ],
    });
  });

  it('keep a stored secret when other fields change, and refuse to overwrite what others changed', async (test) => {
    const { page, open, allow } = await consoles.person(test, 'editor');
    allow(/status of 412/);
    const id = await addProvider('kept');
    await open(`${base}/${id}`);
    await page.getByText('A secret is stored and will be kept.').waitFor();
    await page.getByLabel('Scopes').fill('openid\nemail');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Saved. Changes take effect within seconds.').waitFor();
    const { data } = await call('GET', `/auth-providers/${id}`);
    assert.deepEqual(data, {
      issuer: idp.issuer,
      client_id: DEFAULT_CLIENT.id,
      client_secret: '********',
      scopes: ['openid', 'email'],
    });
    await page.getByLabel('Issuer').fill('https://127.0.0.1:9/');
    await page.getByRole('button', { name: 'Test before saving' }).click();
    await page.getByRole('status').filter({ hasText: 'Nothing was saved.' }).waitFor();
    await page.getByLabel('Issuer').fill(idp.issuer);
    const name = page.getByRole('textbox', { name: 'Name' });
    await name.fill('mine');
    await call('PATCH', `/auth-providers/${id}`, { name: 'of others' });
    await page.getByText('Someone else has changed this while you were editing.').waitFor();
    assert.equal(await name.inputValue(), 'mine');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByText('Your changes were not saved').waitFor();
    await page.getByRole('button', { name: 'Load the latest version' }).last().click();
    await eventually(
      () => name.inputValue(),
      (value) => value === 'of others',
    );
  });

  it('show keys that the service made once, and keep those that are stored', async (test) => {
    const { page, open } = await consoles.person(test, 'editor');
    await open(`${base}/new?type=API_KEY`);
    await page.getByRole('textbox', { name: 'Name', exact: true }).first().fill('machines');
    await page.getByLabel('Key location').selectOption('header');
    await page.getByRole('group', { name: 'Keys 1' }).getByLabel('Name').fill(HOSTILE);
    await page.getByLabel('Header or parameter name').fill('x-key');
    await page.getByRole('button', { name: 'Create' }).click();
    const dialog = page.getByRole('dialog', { name: 'New keys' });
    const made = (await dialog.locator('.fd-mono').first().textContent())!;
    assert.match(made, /^fdk_[\w-]{20,}/);
    await checkLooks(page, 'provider-made-key');
    await dialog.getByLabel('I have stored it').check();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('heading', { level: 1, name: 'machines' }).waitFor();
    await page.getByText('A secret is stored and will be kept.').waitFor();
    await page.getByRole('button', { name: 'Add: Keys' }).click();
    await page.getByRole('group', { name: 'Keys 2' }).getByLabel('Name').fill('second');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await dialog.waitFor();
    assert.equal(await dialog.locator('.fd-facts dt').count(), 1);
    await dialog.getByLabel('I have stored it').check();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    assert.equal(await page.getByText(made).count(), 0);
    await page.getByText('there are no sessions').waitFor();
    await checkLooks(page, 'provider-keys');
  });

  it('show what uses them and who is logged in, whose sessions end here', async (test) => {
    const { world, browser } = consoles;
    const id = await addProvider('sessions');
    const { port } = service.address() as AddressInfo;
    const agent = await world.startAgent('laptop');
    await agent.share(`http://127.0.0.1:${port}`, { name: 'guarded' });
    await call('PATCH', '/shares/guarded', { authProviderIds: [id] });
    const { callbackUrls } = await call('POST', `/auth-providers/${id}/check`);
    idp.allowRedirects(callbackUrls as string[]);
    const visitor = await browser.person('a visitor of a share');
    test.after(() => visitor.close());
    const logIn = async () => {
      await visitor.page.goto(`https://guarded.share.localhost:${world.up.httpsPort}/`);
      await visitor.page.click('#ann');
      await visitor.page.getByText('reached').waitFor();
    };
    await logIn();
    const { page, open } = await consoles.person(test, 'editor');
    await open(`${base}/${id}`);
    await page.getByRole('link', { name: 'guarded', exact: true }).waitFor();
    await page.getByText(ANN.email).waitFor();
    await page.getByText(ANN.name).waitFor();
    await checkLooks(page, 'provider-sessions');
    assert.equal(await page.getByRole('button', { name: 'Delete this provider' }).isDisabled(), true);
    await page.getByRole('button', { name: `End the session of ${ANN.email}` }).click();
    await page.getByText('Nobody is signed in with this provider.').waitFor();
    await logIn();
    // It appears by itself.
    await page.getByText(ANN.email).waitFor();
    await page.getByRole('searchbox', { name: 'Email address' }).fill(ANN.email);
    await page.getByRole('button', { name: `End all sessions of ${ANN.email}` }).click();
    await checkLooks(page, 'provider-end-all');
    await page.getByRole('dialog').getByRole('button', { name: 'End all sessions' }).click();
    await page.getByText('No results match these filters.').waitFor();
    await page.getByRole('button', { name: 'Disable' }).click();
    await page.getByText('It protects 1 share').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click();
    await page.getByRole('button', { name: 'Enable' }).waitFor();
    await call('PATCH', '/shares/guarded', { authProviderIds: [] });
    await page.getByText('This provider is not used.').waitFor();
    await page.getByRole('button', { name: 'Delete this provider' }).click();
    await page.getByLabel('Type sessions to confirm').fill('sessions');
    await checkLooks(page, 'provider-delete');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sign-in providers' }).waitFor();
    await page.getByRole('link', { name: 'machines' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'sessions', exact: true }).count(), 0);
  });

  it('are read by readers, in their language, and narrowed in the address', async (test) => {
    const { page, open } = await consoles.person(test, 'reader', { locale: 'de-DE' });
    await open(`${base}?type=API_KEY`);
    await page.getByRole('heading', { level: 1, name: 'Anmeldeanbieter' }).waitFor();
    await page.getByRole('link', { name: 'machines' }).waitFor();
    assert.equal(await page.getByRole('link', { name: HOSTILE }).count(), 0);
    assert.equal(await page.getByRole('link', { name: 'Neue Anmeldung' }).count(), 0);
    await checkLooks(page, 'providers-reader');
    await page.getByRole('link', { name: 'machines' }).click();
    await page.getByRole('heading', { level: 1, name: 'machines' }).waitFor();
    await page.getByLabel('Wo der Schlüssel gesendet wird').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Änderungen speichern' }).isDisabled(), true);
    assert.equal(await page.getByRole('button', { name: 'Diese Anmeldung löschen' }).isDisabled(), true);
    assert.equal(await page.getByRole('button', { name: 'Ausschalten' }).count(), 0);
  });
});
