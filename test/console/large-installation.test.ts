// What a page of the console asks for: bounded parts of long lists, and little while nobody does anything; and a large mesh, which is
// drawn whole.
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Page } from 'playwright-core';
import { browserSkip } from '../support/browser.ts';
import { releaseWorld, sharedConsole, type ConsoleBrowser } from '../support/console-browser.ts';
import { until } from '../support/deadline.ts';
import { enrollHostileRouter, HostileRouter } from '../support/hostile-router.ts';

const SHARES = 250;
const AT_ONCE = 25;
const MOST_SHOWN = 100;
/** Shorter than any time after which a page asks again. */
const STEP_MS = 10_000;
const MINUTE_MS = 60_000;
/** No agent runs in the environment, so its version is not known. */
const NO_AGENT = /status of 404/;
/** The quietest of them is that of an idle tab: a share that was made may still change its state in the others. */
const MINUTES = 4;
const REQUESTS_A_MINUTE = 4;
const ROUTERS = 300;
const LINKS = 1_000;
/** An enrollment has a time limit, which more of them at once would reach on a busy machine. */
const ENROLLED_AT_ONCE = 3;

/** The requests of a page to the API, but for its stream of changes. */
class PageRequests {
  readonly asked: string[] = [];
  /** The lengths of the lists in answers. */
  readonly lengths: number[] = [];
  #open = 0;

  constructor(page: Page) {
    const counts = (url: string): boolean => url.includes('/console/api/') && !url.includes('/changes');
    page.on('request', (request) => {
      if (!counts(request.url())) return;
      this.#open += 1;
      this.asked.push(request.url());
    });
    page.on('requestfailed', (request) => {
      if (counts(request.url())) this.#open -= 1;
    });
    page.on('requestfinished', async (request) => {
      if (!counts(request.url())) return;
      const answer = await request.response();
      const body = (await answer!.json().catch(() => ({}))) as Readonly<Record<string, unknown>>;
      for (const value of Object.values(body)) if (Array.isArray(value)) this.lengths.push(value.length);
      this.#open -= 1;
    });
  }

  /** Resolves when all that was asked is answered. */
  async settled(): Promise<void> {
    await until(
      'the answers',
      () => this.#open,
      (open) => open === 0,
    );
  }
}

describe('the console of a large installation', { skip: browserSkip }, () => {
  let consoles: ConsoleBrowser;
  let base: string;
  let environmentId: string;

  before(async () => {
    consoles = await sharedConsole();
    const { world } = consoles;
    base = `/frontdoors/${world.credentials.frontdoorId}`;
    environmentId = (await world.enrollEnvironment('host')).id;
    for (let at = 0; at < SHARES; at += AT_ONCE) {
      const made = Array.from({ length: AT_ONCE }, async (_none, index) => {
        const name = `share-${String(at + index).padStart(4, '0')}`;
        const { status, text } = await world.call('POST', '/shares', {
          environmentId,
          name,
          shareMode: 'public',
          backendMode: 'proxy',
          target: 'http://127.0.0.1:9',
        });
        assert.equal(status, 201, text);
      });
      await Promise.all(made);
    }
  });
  after(() => releaseWorld());

  it('shows at most a hundred rows, and asks for no more, on every page with shares', async (test) => {
    const { page, open, allow } = await consoles.person(test, 'operator');
    allow(NO_AGENT);
    const requests = new PageRequests(page);
    const share = `${base}/shares/share-0000`;
    const paths = [
      base,
      `${base}/shares`,
      `${base}/shares?page=2`,
      `${base}/shares?name=share`,
      `${base}/shares/new`,
      share,
      `${share}/access`,
      `${share}/traffic`,
      `${share}/settings`,
      `${base}/access`,
      `${base}/agents`,
      `${base}/agents/${environmentId}`,
      `${base}/activity`,
      '/mesh/services',
    ];
    for (const path of paths) {
      await open(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await requests.settled();
      const rows = await page.locator('tbody tr').count();
      assert.ok(rows <= MOST_SHOWN, `${path} has ${rows} rows`);
      assert.deepEqual(
        requests.lengths.filter((length) => length > MOST_SHOWN),
        [],
        path,
      );
      requests.lengths.length = 0;
    }
  });

  it('asks at most four times a minute in an idle tab', async (test) => {
    const { page, open, allow } = await consoles.person(test, 'operator');
    allow(NO_AGENT);
    const requests = new PageRequests(page);
    await page.clock.install();
    const counts: Record<string, number> = {};
    const share = `${base}/shares/share-0000`;
    const paths = [
      base,
      `${base}/shares`,
      share,
      `${share}/traffic`,
      `${share}/access`,
      `${base}/requests`,
      `${base}/agents`,
      `${base}/agents/${environmentId}`,
      `${base}/agents/new`,
      `${base}/domains`,
      `${base}/failures`,
      `${base}/activity`,
      '/mesh',
      '/mesh/links',
      '/settings/installation',
    ];
    for (const path of paths) {
      await open(path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await requests.settled();
      // What the page draws then may ask for more.
      await page.clock.runFor(STEP_MS);
      await requests.settled();
      const minutes: number[] = [];
      while (minutes.length < MINUTES) {
        requests.asked.length = 0;
        for (let ms = 0; ms < MINUTE_MS; ms += STEP_MS) {
          await page.clock.runFor(STEP_MS);
          await requests.settled();
        }
        minutes.push(requests.asked.length);
      }
      counts[path] = Math.min(...minutes);
    }
    const often = Object.entries(counts).filter(([, count]) => count > REQUESTS_A_MINUTE);
    assert.deepEqual(often, []);
    // The clock of the test moves the one of the page: measured values are asked for again.
    assert.ok(counts[base]! > 0);
  });

  it('draws a mesh of 300 routers and 1,000 links, all of them, in the same places each time', async (test) => {
    const { page, open } = await consoles.person(test, 'operator');
    const { control } = consoles.world.up;
    const port = Number(control.ctrlAddress.split(':').at(-1));
    const routers: HostileRouter[] = [];
    const call = (method: string, path: string): Promise<Response> => {
      const { accountId, apiToken } = consoles.world.credentials;
      const headers = { authorization: `Basic ${btoa(`${accountId}:${apiToken}`)}` };
      return fetch(`${control.baseUrl}${path}`, { method, headers });
    };
    test.after(async () => {
      for (const router of routers) router.close();
      for (const { identity } of routers) await call('DELETE', `/fabric/routers/${identity.id}`);
    });
    while (routers.length < ROUTERS) {
      const next = Array.from({ length: ENROLLED_AT_ONCE }, async (_none, index) => {
        const { token } = await control.createFabricNode('router', `router-${routers.length + index}`);
        return HostileRouter.connect(await enrollHostileRouter(token), port);
      });
      routers.push(...(await Promise.all(next)));
    }
    for (let at = 0; at < LINKS; at += 1) {
      // Each round has another distance, so no two routers are linked twice.
      const from = at % ROUTERS;
      const to = (from + 1 + 7 * Math.floor(at / ROUTERS)) % ROUTERS;
      routers[from]!.report(`link-${at}`, routers[to]!.identity.id);
    }
    const { value: mesh } = await until(
      'the mesh',
      async () =>
        (await call('GET', '/fabric/mesh')).json() as Promise<
          Record<'routers' | 'links', readonly { readonly id: string }[]>
        >,
      ({ routers: all, links }) => all.length > ROUTERS && links.length === LINKS,
    );
    const placesOf = async (): Promise<ReadonlyMap<string, string>> => {
      await open('/mesh');
      // A text that is waited for is evaluated again and again, which the policy of the page forbids.
      const lines = page.locator('.fd-map line');
      await lines.nth(LINKS - 1).waitFor({ state: 'attached' });
      assert.equal(await lines.count(), LINKS);
      const places = await page.evaluate<readonly (readonly [string, string])[]>(`
        [...document.querySelectorAll('.fd-map a')].map((link) => {
          const circle = link.querySelector('circle');
          return [link.getAttribute('href'), circle.getAttribute('cx') + ' ' + circle.getAttribute('cy')];
        })`);
      return new Map(places);
    };
    const places = await placesOf();
    // Those of the world are there, too.
    const drawn = [...places.keys()].map((address) => address.split('/').at(-1)!);
    assert.deepEqual(drawn.toSorted(), mesh.routers.map(({ id }) => id).toSorted());
    assert.equal(new Set(places.values()).size, mesh.routers.length);
    assert.ok((await page.locator('tbody tr').count()) <= MOST_SHOWN);
    assert.ok((await page.locator('.fd-map-list li').count()) <= MOST_SHOWN);
    assert.deepEqual(await placesOf(), places);
  });
});
