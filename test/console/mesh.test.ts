// The mesh in a real browser: circuits that are followed and ended, inspections, and a map that can be read on a narrow screen.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { browserSkip } from '../support/browser.ts';
import { releaseWorld, sharedConsole, type ConsoleBrowser } from '../support/console-browser.ts';
import { checkLooks } from '../support/console-look.ts';
import { within } from '../support/deadline.ts';
import { entryOf, rowMenu } from '../support/row-menu.ts';

type Json = Readonly<Record<string, unknown>>;

const ROUTERS = Array.from({ length: 50 }, (_none, at) => `datacenter-${at + 1}`);
const NARROW = { width: 320, height: 800 };
const WIDE = { width: 1_280, height: 900 };
const LEAST_LETTER_PX = 12;

describe('the mesh at the console', { skip: browserSkip }, () => {
  let consoles: ConsoleBrowser;
  let service: Server;
  before(async () => {
    consoles = await sharedConsole();
    // It begins to answer, and does not end.
    service = createServer((_request, response) => {
      response.write('held');
    }).listen(0, '127.0.0.1');
    await once(service, 'listening');
    const agent = await consoles.world.startAgent('mesh');
    await agent.share(`http://127.0.0.1:${(service.address() as AddressInfo).port}`, { name: 'held' });
  });
  after(async () => {
    service?.closeAllConnections();
    service?.close();
    await releaseWorld();
  });

  const api = async (method: string, path: string, body?: object): Promise<Json> => {
    const { up, credentials } = consoles.world;
    const response = await fetch(`${up.control.baseUrl}${path}`, {
      method,
      headers: {
        authorization: `Basic ${btoa(`${credentials.accountId}:${credentials.apiToken}`)}`,
        'content-type': 'application/json',
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
    return text === '' ? {} : (JSON.parse(text) as Json);
  };
  const circuits = async (): Promise<readonly string[]> => {
    const { content } = await api('GET', '/fabric/circuits?size=100');
    const rows = content as readonly { readonly id: string; readonly serviceName: string }[];
    return rows.filter(({ serviceName }) => serviceName === 'held').map(({ id }) => id);
  };

  it('follows a circuit at its routers, and ends it: its client’s connection breaks', async (test) => {
    const { page, open, allow } = await consoles.person(test, 'operator');
    allow(/status of 404/);
    const client = await consoles.world.connect();
    client.on('error', () => {});
    test.after(() => client.destroy());
    const broken = new Promise((resolve) => client.once('close', resolve));
    client.write('GET / HTTP/1.1\r\nhost: held.share.localhost\r\n\r\n');
    const [answer] = (await within('the first bytes', once(client, 'data'))) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1\.1 200 /);
    await open('/mesh/circuits');
    // One of them has the request; the gateway may have opened others for the next ones.
    const ids = await circuits();
    assert.ok(ids.length > 0);
    for (const id of ids) {
      await (await entryOf(page, 'Follow', id)).click();
      const values = page.getByRole('dialog').getByRole('region', { name: /^Values: / });
      await values.first().waitFor();
      const [detail] = await values.allTextContents();
      assert.equal((JSON.parse(detail!) as Json)['circuitId'], id);
      await checkLooks(page, 'mesh-circuit');
      await page.keyboard.press('Escape');
      await (await entryOf(page, 'Close circuit', id)).click();
      const dialog = page.getByRole('dialog', { name: 'Close circuit' });
      await dialog.getByText('The client’s connection is closed.').waitFor();
      assert.ok((await circuits()).includes(id), 'the question ends nothing');
      await checkLooks(page, 'mesh-circuit-end');
      await dialog.getByRole('button', { name: 'Close circuit', exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
      await rowMenu(page, id).waitFor({ state: 'detached' });
      assert.ok(!(await circuits()).includes(id));
    }
    await within('the end of the connection', broken);
  });

  it('shows what routers answer to an inspection, each time that it is asked for', async (test) => {
    const { page, open } = await consoles.person(test, 'operator');
    const asked: unknown[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/fabric/inspect')) asked.push(request.postDataJSON());
    });
    await open('/mesh/inspect');
    const router = page.getByLabel('Router', { exact: true });
    const online = router.locator('option:not([value=""])').first();
    await online.waitFor({ state: 'attached' });
    const routerId = (await online.getAttribute('value'))!;
    const names = page.getByRole('textbox', { name: /Values to inspect/ });
    const inspect = page.getByRole('button', { name: 'Inspect' });
    await names.fill(' , ');
    assert.equal(await inspect.isDisabled(), true);
    await names.fill('links, router-edge-circuits');
    await inspect.click();
    const values = page.getByRole('region', { name: /^Values: / });
    await values.nth(1).waitFor();
    const answer = await api('POST', '/fabric/inspect', { names: ['links', 'router-edge-circuits'] });
    const expected = (answer['values'] as readonly Json[]).map(
      ({ routerId: id, name }) => `Values: ${String(id)} ${String(name)}`,
    );
    const labels = await values.evaluateAll((regions) =>
      (regions as unknown as readonly { readonly ariaLabel: string }[]).map(({ ariaLabel }) => ariaLabel),
    );
    assert.deepEqual(labels.toSorted(), expected.toSorted());
    for (const text of await values.allTextContents()) assert.doesNotThrow(() => JSON.parse(text), text);
    await checkLooks(page, 'mesh-inspection');
    const again = page.waitForResponse((response) => response.url().endsWith('/fabric/inspect'));
    await inspect.click();
    assert.equal((await again).status(), 200);
    await router.selectOption(routerId);
    await names.fill('nothing-has-this-name');
    await inspect.click();
    await page.getByText('no value').waitFor();
    assert.deepEqual(asked.at(-1), { names: ['nothing-has-this-name'], routerId });
  });

  it('draws a map whose names can be read on a narrow screen, and lists each router', async (test) => {
    const { page, open } = await consoles.person(test, 'operator');
    const ids: string[] = [];
    test.after(async () => {
      for (const id of ids) await api('DELETE', `/fabric/routers/${id}`);
    });
    for (const name of ROUTERS) ids.push(String((await api('POST', '/fabric/routers', { name }))['id']));
    for (const viewport of [NARROW, WIDE]) {
      await page.setViewportSize(viewport);
      await open('/mesh');
      await page.locator('.fd-map-list').getByRole('link', { name: ROUTERS[0]!, exact: true }).waitFor();
      const { frame, labels } = await mapLabelsOf(page);
      const shown = `${viewport.width}: ${labels.map(({ text }) => text).join(', ')}`;
      test.diagnostic(shown);
      // Nearly all have their name or number on a wide screen; a narrow one has room for them after zooming in.
      const least = ROUTERS.length * (viewport === WIDE ? 0.9 : 0.3);
      assert.ok(labels.length >= least, shown);
      for (const [at, label] of labels.entries()) {
        assert.ok(label.letterPx >= LEAST_LETTER_PX, `${label.text} is ${label.letterPx} pixels high`);
        assert.ok(label.left >= frame.left && label.right <= frame.right, `${label.text} is cut`);
        assert.ok(label.top >= frame.top && label.bottom <= frame.bottom, `${label.text} is cut`);
        for (const other of labels.slice(at + 1)) {
          const overlap =
            Math.min(label.right, other.right) > Math.max(label.left, other.left) &&
            Math.min(label.bottom, other.bottom) > Math.max(label.top, other.top);
          assert.ok(!overlap, `${label.text} and ${other.text}`);
        }
      }
      const listed = await page.locator('.fd-map-list').innerText();
      for (const name of ROUTERS) assert.match(listed, new RegExp(`\\b${name}\\b`));
      // A label is the name of its router, or its number in the list.
      const numbers = await page.locator('.fd-map-list li').count();
      for (const { text, router } of labels)
        assert.ok(router.startsWith(`${text}, `) || (Number(text) >= 1 && Number(text) <= numbers), text);
    }
    const named = async () =>
      (await mapLabelsOf(page)).labels.filter(({ text }) => !/^\d+$/.test(text)).length;
    const before = await named();
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await page.getByText('200%').waitFor();
    assert.ok((await named()) > before || before === ROUTERS.length + 1, `${await named()} of ${before}`);
    await page.getByRole('button', { name: 'Whole map' }).click();
    // The one that has the focus in the list stands out, with those next to it.
    await page.locator('.fd-map-list').getByRole('link', { name: ROUTERS[4]!, exact: true }).focus();
    await page.locator('.fd-map-dim').first().waitFor();
    assert.equal(await page.locator('.fd-map a:not(:has(.fd-map-dim))').count(), 1);
    await checkLooks(page, 'mesh-map');
  });
});

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

interface DrawnLabel extends Box {
  readonly text: string;
  /** The name of the router, with its state. */
  readonly router: string;
  readonly letterPx: number;
}

function mapLabelsOf(page: Page): Promise<{ readonly frame: Box; readonly labels: readonly DrawnLabel[] }> {
  return page.evaluate(`(() => {
    const map = document.querySelector('.fd-map');
    const boxOf = (element) => {
      const { left, top, right, bottom } = element.getBoundingClientRect();
      return { left, top, right, bottom };
    };
    const scale = map.getBoundingClientRect().width / map.viewBox.baseVal.width;
    const labels = [...map.querySelectorAll('text')].map((text) => ({
      ...boxOf(text),
      text: text.textContent,
      router: text.closest('a').getAttribute('aria-label'),
      letterPx: parseFloat(getComputedStyle(text).fontSize) * scale,
    }));
    return { frame: boxOf(map), labels };
  })()`);
}
