// Pages of shares in a real browser: a service is published in three steps, works, fails where the page shows it, and ends.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { browserSkip } from '../support/browser.ts';
import { makeTestAuthority } from '../support/certificates.ts';
import { releaseWorld, sharedConsole, type ConsoleBrowser } from '../support/console-browser.ts';
import { checkLooks } from '../support/console-look.ts';
import { eventually } from '../support/world.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';
const HOST = 'app.share.localhost';

describe('the pages of shares', { skip: browserSkip }, () => {
  let consoles: ConsoleBrowser;
  let base: string;
  let service: Server;
  let port: number;

  const listen = (server: NetServer, at: number): Promise<void> =>
    new Promise((resolve) => server.listen(at, '127.0.0.1', resolve));
  const newService = (): Server =>
    createServer(({ url, headers }, response) =>
      response.end(url === '/headers' ? JSON.stringify(headers) : 'it works'),
    );
  const closeService = async (): Promise<void> => {
    service.closeAllConnections();
    await new Promise((resolve) => service.close(resolve));
  };

  before(async () => {
    consoles = await sharedConsole();
    const { world } = consoles;
    base = `/frontdoors/${world.credentials.frontdoorId}/shares`;
    service = newService();
    await listen(service, 0);
    ({ port } = service.address() as AddressInfo);
    await world.startAgent(HOSTILE, ['127.0.0.1:*']);
    await world.startAgent('laptop');
    const made = await world.call('POST', '/auth-providers', {
      name: HOSTILE,
      type: 'API_KEY',
      data: { placement: 'header', name: 'X-Api-Key', keys: [{ name: 'ci' }] },
    });
    assert.equal(made.status, 201, made.text);
  });
  after(async () => {
    if (service?.listening === true) await closeService();
    await releaseWorld();
  });

  it('publish a service in three steps, and show by themselves that it works', async (test) => {
    const { page, open, allow } = await consoles.person(test, 'editor');
    allow(/status of 400/);
    await open(base);
    await page.getByText('No shares yet.').waitFor();
    await page.getByRole('link', { name: 'Publish a service' }).first().click();
    const next = page.getByRole('button', { name: 'Next' });
    await next.click();
    await page.getByText('Select the agent next to the service.').waitFor();
    await page.getByLabel('Agent next to the service').selectOption({ label: HOSTILE });
    await page.getByLabel('Service address').fill(String(port));
    await page.getByText(`Uses http://127.0.0.1:${port}.`).waitFor();
    await checkLooks(page, 'share-new-what');
    await next.click();
    await page.getByRole('textbox', { name: 'Name' }).fill('App Store');
    await page.getByText(`http://app store.share.localhost:${consoles.world.up.httpPort}`).waitFor();
    await checkLooks(page, 'share-new-where');
    await next.click();
    const publish = page.getByRole('button', { name: 'Publish' });
    await publish.click();
    await page.locator('.fd-fields').getByText('Choose who can access the service.').waitFor();
    await page.getByLabel('People and programs that authenticate').check();
    await page.getByLabel(HOSTILE).waitFor();
    await page.getByLabel('Everyone, without authentication').check();
    await page.getByText('search engines and attackers').waitFor();
    await checkLooks(page, 'share-new-who');
    await publish.click();
    // The refused name leads back to its step.
    await page.getByText(/Value for name must be/).waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('app');
    await next.click();
    await publish.click();
    await page.getByText('Your service is reachable.').waitFor();
    const address = `http://${HOST}:${consoles.world.up.httpPort}`;
    assert.equal(await page.getByRole('link', { name: address }).getAttribute('href'), address);
    await checkLooks(page, 'share-published');
    const { body } = await consoles.world.get(HOST, '/');
    assert.equal(String(body), 'it works');
  });

  it('list them with filters in the address, and who may come in', async (test) => {
    const { page, open } = await consoles.person(test, 'editor');
    await open(base);
    await page.getByRole('link', { name: 'app', exact: true }).waitFor();
    assert.match((await page.textContent('main'))!, /Everyone/);
    await page.getByRole('img', { name: /requests, 0 errors/ }).waitFor();
    await checkLooks(page, 'shares');
    await page.getByLabel('Sign-in provider').selectOption({ label: HOSTILE });
    await page.getByText('No results match these filters.').waitFor();
    assert.match(page.url(), /providerId=/);
    await page.reload();
    await page.getByText('No results match these filters.').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).first().click();
    await page.getByLabel('Name contains').fill('ap');
    await page.waitForURL(/name=ap/);
    await page.getByRole('link', { name: 'app', exact: true }).waitFor();
  });

  it('show which part of the way is broken, and by themselves when it works again', async (test) => {
    const { page, open } = await consoles.person(test, 'reader');
    await open(`${base}/app`);
    await page.getByText('The last check reached the service.').waitFor();
    await checkLooks(page, 'share-works');
    await closeService();
    const { status } = await consoles.world.get(HOST, '/');
    assert.equal(status, 502);
    await page.getByText('The connection fails here: Service.').waitFor();
    await page.getByText(`connection refused by http://127.0.0.1:${port}`).first().waitFor();
    await page.getByText('Next retry').waitFor();
    await page.getByRole('heading', { name: 'Latest failures' }).waitFor();
    await page.getByRole('cell', { name: '502' }).waitFor();
    await checkLooks(page, 'share-broken');
    service = newService();
    await listen(service, port);
    await page.getByText('The last check reached the service.').waitFor();
  });

  it('set how requests reach the service, with each refusal at its field', async (test) => {
    const reader = await consoles.person(test, 'reader');
    await reader.open(`${base}/app/service`);
    await reader.page.getByText('Your role does not allow you to change these settings.').waitFor();
    assert.ok(await reader.page.getByLabel('Another host').isDisabled());

    const { page, open, allow } = await consoles.person(test, 'editor');
    allow(/status of 400/);
    await open(`${base}/app/service`);
    const save = page.getByRole('button', { name: 'Save' });
    await page.getByLabel('Another host').waitFor();
    assert.ok(await save.isDisabled());
    await page.getByLabel('Another host').check();
    await page.getByRole('textbox', { name: 'Host' }).fill('not a host');
    await page.getByRole('button', { name: 'Add a request header' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('X-Forwarded-For');
    await page.getByRole('textbox', { name: 'Value' }).fill('192.0.2.1');
    await save.click();
    await page.getByText(/Value for hostHeader must be/).waitFor();
    await page.getByRole('textbox', { name: 'Host' }).fill('localhost');
    await save.click();
    await page.getByText(/X-Forwarded-For: only gateways set it/).waitFor();
    await page.getByRole('textbox', { name: 'Name' }).fill('X-From');
    await page.getByRole('textbox', { name: 'Value' }).fill('frontdoor');
    await page.getByLabel('Accept obsolete forms of responses').check();
    await checkLooks(page, 'share-service');
    // The form is sent by keyboard, too.
    await page.getByRole('textbox', { name: 'Value' }).press('Enter');
    await page.getByText('Saved.').waitFor();
    const settings = await consoles.world.call('GET', '/shares/app/upstream');
    const { hostHeader, lenient, requestHeaders } = settings.json as Record<string, unknown>;
    assert.deepEqual(
      { hostHeader, lenient, requestHeaders },
      {
        hostHeader: 'localhost',
        lenient: true,
        requestHeaders: [{ action: 'set', name: 'X-From', value: 'frontdoor' }],
      },
    );
    const { body } = await consoles.world.get(HOST, '/headers');
    assert.match(String(body), /"host":"localhost".*"x-from":"frontdoor"/);
    await page.getByRole('button', { name: 'Use the defaults' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Use the defaults' }).click();
    await page.getByRole('textbox', { name: 'Host' }).waitFor({ state: 'detached' });
    assert.ok(await page.getByLabel('The host that the client requested').isChecked());
  });

  it('send paths to other services, and answer them at the gateway, by keyboard', async (test) => {
    const { page, open, allow } = await consoles.person(test, 'editor');
    allow(/status of 400/);
    const { world } = consoles;
    const stored = [
      { path: '/*', redirectTo: '/robots.txt', status: 307 },
      { path: '/a.txt', text: 'a\r\n' },
    ];
    await world.call('PATCH', '/shares/app/upstream', { answers: stored });
    await open(`${base}/app/service`);
    const save = page.getByRole('button', { name: 'Save' });
    const entry = (name: string) => page.getByRole('group', { name, exact: true });
    const focused = () =>
      page.evaluate<string>(`document.activeElement.closest('fieldset').innerText.split('\\n')[0]`);
    await page.getByRole('button', { name: 'Add a service' }).press('Enter');
    assert.equal(await focused(), 'Service 1');
    await page.keyboard.type('/api/');
    await page.keyboard.press('Tab');
    await page.keyboard.type(`http://127.0.0.1:${port}/headers`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await save.click();
    await entry('/api/')
      .getByText(/Value for routes.0.path must be of path of whole segments/)
      .waitFor();
    await entry('/api/').locator('input:focus[aria-invalid=true]').waitFor();
    await entry('/api/').getByRole('textbox', { name: 'Path' }).fill('/api');
    // Single paths come first.
    assert.deepEqual(await entry('Answers of the gateway').locator('legend').allInnerTexts(), [
      'Answers of the gateway',
      '/a.txt',
      '/*',
    ]);
    await page.getByRole('button', { name: 'Remove: /*' }).press('Enter');
    assert.equal(await focused(), 'Answers of the gateway');
    await page.keyboard.press('Enter');
    await page.keyboard.type('/old/*');
    await page.getByRole('combobox', { name: 'Answer' }).last().selectOption('redirect');
    await page.getByRole('textbox', { name: 'Redirect to' }).fill('nowhere');
    await save.click();
    await entry('/old/*')
      .getByText(/answers.1.redirectTo must be of web address or path/)
      .waitFor();
    await checkLooks(page, 'share-service-paths');
    await page.getByRole('textbox', { name: 'Redirect to' }).fill('/new/*');
    await save.click();
    await page.getByText('Saved.').waitFor();
    const { json } = await world.call('GET', '/shares/app/upstream');
    const { routes, answers } = json as Record<string, unknown>;
    assert.deepEqual(routes, [{ path: '/api', target: `http://127.0.0.1:${port}/headers`, stripPath: true }]);
    assert.deepEqual(answers, [stored[1], { path: '/old/*', redirectTo: '/new/*' }]);
    assert.equal((await world.get(HOST, '/old/x?y')).headers.location, '/new/x?y');
    await eventually(
      () => world.get(HOST, '/api'),
      ({ body }) => String(body).includes('x-forwarded-for'),
    );
    await world.call('DELETE', '/shares/app/upstream');
  });

  it('show the certificate that the agent refused, and accept it once', async (test) => {
    const { page, open } = await consoles.person(test, 'editor');
    const identity = await (await makeTestAuthority()).issue('device');
    const device = createTlsServer(identity, (_request, response) => response.end('over TLS'));
    device.on('tlsClientError', () => {});
    await listen(device, 0);
    test.after(() => device.close());
    const { world } = consoles;
    const { port: devicePort } = device.address() as AddressInfo;
    await world.call('PATCH', '/shares/app', { target: `https://127.0.0.1:${devicePort}` });
    await open(`${base}/app`);
    await page.getByRole('link', { name: 'Review the certificate of the service' }).click();
    const { fingerprint256 } = new X509Certificate(identity.cert);
    await page.getByText(fingerprint256).waitFor();
    await checkLooks(page, 'share-certificate');
    await page.getByRole('button', { name: 'Accept this certificate' }).click();
    await page.getByText(fingerprint256).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await eventually(
      () => world.get(HOST, '/'),
      ({ body }) => String(body) === 'over TLS',
    );
    await page.getByLabel('Do not verify the certificate').check();
    await page.getByText('can read and change all traffic, passwords included').waitFor();
    await world.call('PATCH', '/shares/app', { target: `http://127.0.0.1:${port}` });
    await world.call('DELETE', '/shares/app/upstream');
  });

  it('draw the traffic, and show the same as a table', async (test) => {
    const { page, open } = await consoles.person(test, 'reader');
    const { world } = consoles;
    await eventually(
      () => world.call('GET', '/shares/app/metrics'),
      ({ json }) => (json as { totals: { requests: number } }).totals.requests >= 2,
    );
    await open(`${base}/app/traffic`);
    await page.getByRole('img', { name: /^Requests by status\. 2xx: peak [1-9]/ }).waitFor();
    assert.equal(await page.locator('canvas').count(), 3);
    await checkLooks(page, 'share-traffic');
    await page.getByLabel('View').selectOption('table');
    await page.getByRole('columnheader', { name: '5xx' }).waitFor();
    assert.match(page.url(), /view=table/);
    await page.getByLabel('Time range', { exact: true }).selectOption('PT6H');
    await page.waitForURL(/duration=PT6H/);
    await checkLooks(page, 'share-traffic-table');
  });

  it('change a share unless someone else did, and let readers change nothing', async (test) => {
    const reader = await consoles.person(test, 'reader');
    await reader.open(`${base}/app/settings`);
    await reader.page.getByText('Your role does not allow you to change shares.').waitFor();
    assert.ok(await reader.page.getByRole('button', { name: 'Delete this share' }).isDisabled());
    await reader.open(`${base}/new`);
    await reader.page.getByText('Your role does not allow you to publish services.').waitFor();

    const { page, open, allow } = await consoles.person(test, 'editor');
    allow(/status of 412/);
    await open(`${base}/app/settings`);
    const save = page.getByRole('button', { name: 'Save' });
    await page.getByText('No changes.').waitFor();
    assert.ok(await save.isDisabled());
    await page.getByLabel('Private').check();
    await page.getByText('The addresses of this share stop working immediately.').waitFor();
    await page.getByLabel('laptop').check();
    await checkLooks(page, 'share-settings');
    const target = `http://127.0.0.1:${port}`;
    await consoles.world.call('PATCH', '/shares/app', { target: 'http://127.0.0.1:9' });
    await save.click();
    await page.getByText('Someone else has changed this.').waitFor();
    await page.getByRole('button', { name: 'Load the latest version' }).click();
    await page.getByText('No changes.').waitFor();
    assert.equal(await page.getByLabel('Service address').inputValue(), 'http://127.0.0.1:9');
    await page.getByLabel('Service address').fill('/srv/my site');
    await page.getByLabel('List the files of a folder that has no index.html').check();
    const folder = await page.getByLabel('Service address').inputValue();
    assert.equal(folder, 'file:///srv/my%20site?listing');
    await page.getByLabel('Service address').fill(target);
    await page.getByLabel('Private').check();
    await page.getByLabel('laptop').check();
    await save.click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('link', { name: 'Overview' }).last().click();
    await page.getByText('frontdoor agent access open app --listen 127.0.0.1:9000').waitFor();
    await page.getByText('Machine with access', { exact: true }).waitFor();
    await page.getByText('HTTP service', { exact: true }).waitFor();
    await checkLooks(page, 'share-private');
  });

  it('delete a share by its typed name', async (test) => {
    const { page, open } = await consoles.person(test, 'editor');
    await open(`${base}/app/settings`);
    await page.getByRole('button', { name: 'Delete this share' }).click();
    const remove = page.getByRole('dialog').getByRole('button', { name: 'Delete' });
    assert.ok(await remove.isDisabled());
    await page.getByLabel('Type app to confirm').fill('app');
    await checkLooks(page, 'share-delete');
    await remove.click();
    await page.getByText('No shares yet.').waitFor();
    assert.equal(new URL(page.url()).pathname, `/console${base}`);
  });
});
