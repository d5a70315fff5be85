// Requests of a share in a real browser: recorded, shown as they come, sent again; failures explained; activity; the mesh.
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { browserSkip } from '../support/browser.ts';
import { releaseWorld, sharedConsole, type ConsoleBrowser } from '../support/console-browser.ts';
import { checkLooks } from '../support/console-look.ts';
import { eventually, httpGet } from '../support/world.ts';

const HOST = 'app.share.localhost';
const SCRIPT = '<script>alert(1)</script>';

const MOST_LAYOUT_SHIFT = 0.05;

/** How far parts of a page moved since it was opened (CLS). */
function layoutShift(page: Page): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    let moved = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) moved += entry.value;
    }).observe({ type: 'layout-shift', buffered: true });
    requestAnimationFrame(() => setTimeout(() => resolve(moved), 0));
  })`);
}

describe('requests, failures, activity and the mesh', { skip: browserSkip }, () => {
  let consoles: ConsoleBrowser;
  let service: Server;
  let base: string;
  let received: string[];

  before(async () => {
    consoles = await sharedConsole();
    const { world } = consoles;
    base = `/frontdoors/${world.credentials.frontdoorId}`;
    received = [];
    service = createServer((request, response) => {
      received.push(`${request.method} ${request.url} ${String(request.headers['x-test'] ?? '')}`);
      if (request.url === '/page') return response.setHeader('content-type', 'text/html').end(SCRIPT);
      return response.setHeader('content-type', 'application/json').end('{"hello":["world"]}');
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    const { environmentId } = await world.startAgent('laptop', ['127.0.0.1:*']);
    const made = await world.call('POST', '/shares', {
      name: 'app',
      environmentId,
      shareMode: 'public',
      backendMode: 'proxy',
      target: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
    });
    assert.equal(made.status, 201, made.text);
    await eventually(
      () => ask('/'),
      ({ status }) => status === 200,
    );
  });
  after(async () => {
    await releaseWorld();
    service?.closeAllConnections();
    service?.close();
  });

  const ask = (path: string) => httpGet(consoles.world.up.httpPort, HOST, path);

  it('are recorded from the page, appear by themselves, are text, and are sent again with changes', async (test) => {
    const { page, open, allow } = await consoles.person(test, 'editor');
    // The repetition is opened before it is recorded.
    allow(/status of 404/);
    await open(`${base}/shares/app/requests`);
    await page.getByText('Requests to this share are not being recorded.').waitFor();
    await page.getByRole('button', { name: 'Record requests' }).click();
    await page.getByText('Requests are being recorded until').waitFor();
    // Gateways follow within a second.
    const row = page.getByRole('link', { name: 'Open GET /page' }).first();
    await eventually(
      async () => {
        await ask('/page');
        return row.isVisible();
      },
      (isVisible) => isVisible,
    );
    await checkLooks(page, 'requests');
    await row.click();
    await page.getByText(SCRIPT).waitFor();
    await checkLooks(page, 'request');
    await page.getByRole('button', { name: 'Edit and replay' }).click();
    const headers = page.getByLabel(/Headers to replace/);
    await headers.fill('no header');
    await page.getByText('does not have the form').waitFor();
    await headers.fill('X-Test: again');
    await checkLooks(page, 'request-replay');
    await page.getByRole('button', { name: 'Replay', exact: true }).click();
    await page.getByRole('link', { name: 'View response' }).click();
    await page.getByRole('heading', { name: 'Replay' }).waitFor();
    assert.ok(received.includes('GET /page again'));
    await checkLooks(page, 'request-beside');
    await page.getByRole('link', { name: 'All recorded requests' }).click();
    await page.getByRole('button', { name: 'Stop recording' }).click();
    await page.getByText('Requests to this share are not being recorded.').waitFor();
  });

  it('that fail are explained by the id on the visitor’s page, with the hop that failed', async (test) => {
    const { page, open } = await consoles.person(test, 'reader');
    const port = (service.address() as AddressInfo).port;
    service.closeAllConnections();
    await new Promise((resolve) => service.close(resolve));
    const { body } = await eventually(
      () => ask('/broken'),
      ({ status }) => status >= 500,
    );
    const errorId = /[0-9a-f]{16,}/.exec(body.toString())![0];
    await new Promise<void>((resolve) => service.listen(port, '127.0.0.1', resolve));
    await open(`${base}/failures`);
    await page.getByText('/broken').first().waitFor();
    await checkLooks(page, 'failures');
    await page.getByRole('textbox', { name: 'Error ID' }).fill(errorId);
    await page.getByRole('button', { name: 'Explain', exact: true }).click();
    await page.getByText('failed here').waitFor();
    await checkLooks(page, 'failure');
    // The catalogue of German is a file of its own.
    await page.evaluate(`localStorage.setItem('frontdoor-language', 'de')`);
    await page.reload();
    await page.getByText(/^(Der Dienst hinter|Zurzeit stellt kein Agent) /).waitFor();
    await page.evaluate(`localStorage.setItem('frontdoor-language', 'en')`);
    await page.reload();
    await page.getByRole('link', { name: 'Go to share' }).click();
    await page.getByRole('heading', { level: 1, name: 'app' }).waitFor();
    await open(`${base}/requests?outcome=unserved`);
    await page
      .getByRole('button', { name: /^Open GET .*\/broken$/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('failed here').waitFor();
    await checkLooks(page, 'requests');
    await dialog.getByRole('link', { name: 'Requests from this address' }).click();
    await page.waitForURL(/requests\?client=/);
    await page.locator('td').getByText('Served', { exact: true }).first().waitFor();
  });

  it('are summed up on the overview', async (test) => {
    const { page, open } = await consoles.person(test, 'reader');
    await open(base);
    const traffic = page.getByRole('region', { name: 'Traffic', exact: true });
    await traffic
      .getByRole('region', { name: 'Busiest shares' })
      .getByRole('link', { name: 'app' })
      .waitFor();
    const causes = page.getByRole('region', { name: 'Why requests failed' });
    await causes.getByRole('listitem').first().waitFor();
    await page.getByRole('region', { name: 'Latest changes' }).getByRole('link').first().waitFor();
    assert.ok((await layoutShift(page)) <= MOST_LAYOUT_SHIFT, `${await layoutShift(page)}`);
    await checkLooks(page, 'overview');
    for (const range of ['24 h', '7 days', '30 days']) {
      await page.getByText(range, { exact: true }).click();
      await page.getByRole('img', { name: /^Requests over time/ }).waitFor();
    }
    assert.match(page.url(), /range=30d/);
    await traffic.getByRole('link', { name: 'app' }).waitFor();
    await causes.getByRole('link').first().click();
    const table = page.getByRole('region', { name: 'Causes' });
    await table.getByText('All causes').waitFor();
    await checkLooks(page, 'failures-of-a-cause');
    await page.goBack();
    assert.match(await page.title(), /^Overview/);
  });

  it('have a trail with names and differences, which is verified and exported', async (test) => {
    const { page, open } = await consoles.person(test, 'operator');
    await open('/activity');
    await page
      .getByRole('button', { name: /^Create share:/ })
      .first()
      .click();
    await page.getByRole('cell', { name: 'target', exact: true }).waitFor();
    await checkLooks(page, 'activity-event');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText(/events are intact/).waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    await page.getByRole('menuitem', { name: 'JSON file' }).click();
    assert.equal((await download).suggestedFilename(), 'frontdoor-audit-events.json');
    await checkLooks(page, 'activity');
  });

  it('take a way through the mesh, which operators see, and change', async (test) => {
    const { page, open } = await consoles.person(test, 'operator');
    await open('/mesh');
    await page.getByRole('link', { name: /, connected$/ }).waitFor();
    await page.getByLabel('Router', { exact: true }).selectOption({ index: 1 });
    await page.getByLabel('Service', { exact: true }).selectOption({ label: 'app' });
    await page.getByText('selected', { exact: true }).waitFor();
    await checkLooks(page, 'mesh');
    for (const path of ['routers', 'gateways', 'links', 'circuits', 'services', 'terminators', 'inspect']) {
      await open(`/mesh/${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await checkLooks(page, `mesh-${path}`);
    }
    await page.getByRole('button', { name: 'Inspect' }).click();
    await page
      .getByRole('region', { name: /Values/ })
      .first()
      .waitFor();
    await open('/mesh/routers');
    await page.getByRole('button', { name: 'New router' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('berlin');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    await page.getByText('frontdoor router enroll').waitFor();
    await page.getByLabel('I have stored it').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await page.getByRole('link', { name: 'berlin' }).click();
    await page.getByText('not enrolled yet').waitFor();
    await checkLooks(page, 'mesh-router');
  });

  it('are found with Ctrl-K, and pages by keys', async (test) => {
    const { page, open } = await consoles.person(test, 'editor');
    await open(base);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /Search for a resource/ }).fill('app');
    await page.getByRole('option', { name: /^app/ }).waitFor();
    await checkLooks(page, 'search');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'app' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();
    await page.keyboard.press('?');
    await page.getByText('Go to Overview').waitFor();
    await checkLooks(page, 'keys');
  });
});
